#!/usr/bin/env bash
# Builds and runs all tests, target by target; a target that ran no test fails.
cd "$(dirname "$0")/.."
source scripts/lib.sh

# At most so many tests at once: all at once wait so long for each other on a busy machine that time limits of
# a minute end. Swift Testing that does not know the variable runs all at once.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-16}
failed=0
# Seconds for all tests of a target; the longest takes two minutes on two processors with nothing else to do.
limit=${TEST_LIMIT:-900}

# Runs a command with a time limit: limited SECONDS COMMAND...
limited() {
  if command -v timeout >/dev/null 2>&1; then timeout --kill-after=10 "$@"; else "${@:2}"; fi
}

# The tests with a start and no end in a log: a run that was ended hung in one of them. Cases have no end in a log.
unfinished() {
  awk '
    /^◇ Test .* started\.$/ { sub(/^◇ Test /, ""); sub(/ started\.$/, ""); if ($0 !~ /^(run$|case )/) running[$0] = 1 }
    /(✔|✘|➜) Test .* ((passed|failed) after [0-9.]+ seconds|skipped[.:])/ {
      sub(/^.*(✔|✘|➜) Test /, ""); sub(/( with [0-9]+ test cases?)? ((passed|failed) after [0-9.]+ seconds|skipped[.:]).*$/, "")
      delete running[$0] }
    END { for (name in running) print "did not end: " name }' "$1"
}

# Builds and runs the test targets of a package: run_tests FOLDER PACKAGE SWIFT OPTIONS...
run_tests() {
  local folder=$1 package=$2 target tests failures xml program run
  shift 2
  section "build the tests of ${folder}"
  if ! timed "the build" swift_build --build-tests "$@"; then
    note "build-tests-$(basename "$PWD/$folder")" 0 1
    failed=1
    return
  fi
  # On Linux the tests are a program, which starts without a look at the packages.
  program=$(swift build "$@" --show-bin-path)/${package}PackageTests.xctest
  run=("$program" --testing-library swift-testing)
  [ -f "$program" ] || run=(swift test --skip-build "$@")
  for target in "$folder"/Tests/*Tests; do
    target=$(basename "$target")
    section "test $target"
    xml=$PWD/$results/$target
    rm -f "$xml"*.xml
    timed "$target" limited "$limit" "${run[@]}" \
      --filter "^$target\\." --xunit-output "$xml.xml" </dev/null >"$xml.log" 2>&1 || true
    tail -n 1 "$xml.log" | grep '^processor time' || true
    # A run that was ended has no report.
    tests=$(attribute tests "$xml" || true)
    # Commands that tests start write bytes of bodies to the log: a text to grep in spite of them.
    failures=$(grep -acE '^✘ Test .* failed after' "$xml.log" || true)
    if [ "$tests" = 0 ]; then
      tail -n 40 "$xml.log"
      unfinished "$xml.log"
      echo "FAILED: $target ran no test, or did not end within $limit s"
      note "$target" 0 1
      failed=1
    elif [ "$failures" != 0 ]; then
      grep -aE '✘|error:' "$xml.log"
      echo "FAILED: $target: $failures of $tests tests"
      note "$target" $((tests - failures)) "$failures"
      failed=1
    elif ! grep -aqE 'Test run with [0-9]+ tests? .*passed' "$xml.log"; then
      tail -n 40 "$xml.log"
      unfinished "$xml.log"
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
# The modules behind the other traits are tested with Tools, which builds their dependencies anyway.
run_tests . swift-http-cache "${root[@]}"
run_tests Tools httpcache "${tools[@]}"

section "torture, short form"
timed "the torture" check torture scripts/torture.sh short || failed=1

# Builds the products only, as users do; scripts/checks.sh links them.
section "build without traits"
without_traits() {
  local module
  for module in URLSession Testing Downloads Images Hummingbird AsyncHTTPClient Logging Redis Tracing; do
    swift_build "${untraited[@]}" --target "HTTPCache$module" || return
  done
}
timed "the build" check build-without-traits without_traits || failed=1

section "tests"
total || true
failed_tests
exit $failed
