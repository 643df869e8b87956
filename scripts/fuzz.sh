#!/usr/bin/env bash
# Fuzzes the parsers with libFuzzer and AddressSanitizer for FUZZ_SECONDS in all, 60 unless set.
#
#   fuzz.sh                all targets, one after the other
#   fuzz.sh TARGET         one of them
#   fuzz.sh minimize       the smallest set of files with the coverage of all found files, in .build/fuzz/minimized
#
# New inputs are in .build/fuzz/corpus, inputs that break a rule in .build/fuzz/crashes.
cd "$(dirname "$0")/.."
source scripts/lib.sh

# Apple's Swift and some distributions come without libFuzzer.
printf '@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_: UnsafeRawPointer?, _: Int) -> CInt { 0 }\n' \
  >"$results/probe.swift"
if ! swiftc -parse-as-library -sanitize=fuzzer,address -o "$results/probe" "$results/probe.swift" >/dev/null 2>&1; then
  echo "skipped: this Swift cannot link libFuzzer"
  exit 0
fi
rm -f "$results"/probe* "$results"/fuzz-*.count

work=.build/fuzz
# The stack trace of Swift's own handler waits for a debugger in some containers.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:abort_on_error=0
scripts/link-fuzzing.sh fuzz "$work" -sanitize=fuzzer,address

targets=()
for folder in Fuzzing/Corpus/*/; do targets+=("$(basename "$folder")"); done
mode=${1:-all}
if [ "$mode" != all ] && [ "$mode" != minimize ]; then targets=("$mode"); fi
seconds=$((${FUZZ_SECONDS:-60} / ${#targets[@]}))
[ "$seconds" -gt 0 ] || seconds=1

failed=0
for target in "${targets[@]}"; do
  found=$work/corpus/$target
  mkdir -p "$found" "$work/crashes"
  export FUZZ_TARGET=$target
  if [ "$mode" = minimize ]; then
    rm -rf "$work/minimized/$target"
    mkdir -p "$work/minimized/$target"
    "$work/fuzz" -set_cover_merge=1 -use_counters=0 -max_len=600 "$work/minimized/$target" \
      "Fuzzing/Corpus/$target" "$found" >"$work/$target.log" 2>&1
    echo "$target: $(ls "$work/minimized/$target" | wc -l) files"
    continue
  fi
  echo "== $target: $seconds s"
  if "$work/fuzz" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
    -dict=Fuzzing/tokens.dict -artifact_prefix="$work/crashes/$target-" -print_final_stats=1 \
    "$found" "Fuzzing/Corpus/$target" >"$work/$target.log" 2>&1; then
    note "fuzz-$target" 1 0
  else
    note "fuzz-$target" 0 1
    failed=1
  fi
  grep -E '^violated|ERROR|SUMMARY|Test unit written|number_of_executed|average_exec|Fatal error' \
    "$work/$target.log" || tail -n 5 "$work/$target.log"
done
exit $failed
