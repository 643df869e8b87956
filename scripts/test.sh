#!/usr/bin/env bash
# Builds and runs all tests, target by target; a target that ran no test fails.
cd "$(dirname "$0")/.."
source scripts/lib.sh

failed=0

# Runs the test targets of the package in a folder: run_tests FOLDER [SWIFT OPTIONS...]
run_tests() {
  local folder=$1 target tests failures xml
  shift
  section "build the tests of ${folder}"
  if ! swift build --package-path "$folder" --build-tests "$@"; then
    note "build-tests-$(basename "$PWD/$folder")" 0 1
    failed=1
    return
  fi
  for target in "$folder"/Tests/*Tests; do
    target=$(basename "$target")
    section "test $target"
    xml=$PWD/$results/$target
    rm -f "$xml"*.xml
    swift test --package-path "$folder" --skip-build "$@" \
      --filter "^$target\\." --xunit-output "$xml.xml" </dev/null >"$xml.log" 2>&1 || true
    # There is no report of a run that did not come to its end.
    tests=$(attribute tests "$xml" || echo 0)
    failures=$(grep -cE '^✘ Test .* failed after' "$xml.log" || true)
    if [ "$tests" = 0 ]; then
      tail -n 40 "$xml.log"
      echo "FAILED: $target ran no test"
      note "$target" 0 1
      failed=1
    elif [ "$failures" != 0 ]; then
      grep -E '✘|error:' "$xml.log"
      echo "FAILED: $target: $failures of $tests tests"
      note "$target" $((tests - failures)) "$failures"
      failed=1
    elif ! grep -qE 'Test run with [0-9]+ tests? .*passed' "$xml.log"; then
      tail -n 40 "$xml.log"
      echo "FAILED: $target did not come to an end"
      note "$target" "$tests" 1
      failed=1
    else
      echo "ok: $target: $tests tests"
      note "$target" "$tests" 0
    fi
  done
}

# Adds up an attribute over the reports of a target: attribute NAME PREFIX
attribute() {
  cat "$2"*.xml 2>/dev/null | grep -o '<testsuite [^>]*' | grep -oE "(^| )$1=\"[0-9]+\"" |
    grep -oE '[0-9]+' | awk '{ sum += $1 } END { print sum + 0 }'
}

rm -f "$results"/*Tests.count "$results"/*Tests.log "$results"/build-*.count
# The modules behind the other traits are tested with the tools, where what they stand on is built anyway.
run_tests .
run_tests Tools

section "generated header sets"
check hostile-header-sets scripts/hostile.sh || failed=1

section "torture, short form"
check torture scripts/torture.sh short || failed=1

section "build without traits"
check build-without-traits swift build --disable-default-traits --scratch-path .build/no-traits || failed=1

section "tests"
total || true
# Once more where the sum is, since what a target printed may be far above.
for log in "$results"/*Tests.log; do
  grep -qE '^✘ Test .* failed after' "$log" || continue
  echo "in $(basename "$log" .log):"
  grep -E '^✘|error:' "$log" | tail -n 30
done
exit $failed
