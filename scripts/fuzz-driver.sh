#!/usr/bin/env bash
# Fuzzes a driver of Fuzzing/Drivers with libFuzzer and AddressSanitizer for FUZZ_SECONDS, 60 unless set. Libraries of
# the system are not instrumented; AddressSanitizer sees their use of the heap.
#
#   fuzz-driver.sh DRIVER LONGEST FOLDER   inputs of at most LONGEST bytes, from the files of a folder
#
# New inputs are in .build/fuzz-DRIVER/corpus, inputs that break a rule in .build/fuzz-DRIVER/crashes.
cd "$(dirname "$0")/.."
source scripts/lib.sh

driver=$1
work=.build/fuzz-$driver
mkdir -p "$work/corpus" "$work/crashes"
# The stack trace of Swift's own handler waits for a debugger in some containers.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:abort_on_error=0
scripts/link-fuzzing.sh "$driver" "$work" -sanitize=fuzzer,address
status=0
"$work/$driver" -max_total_time="${FUZZ_SECONDS:-60}" -max_len="$2" -timeout=10 -rss_limit_mb=2048 \
  -artifact_prefix="$work/crashes/" -print_final_stats=1 "$work/corpus" "$3" \
  >"$work/$driver.log" 2>&1 || status=$?
grep -E '^violated|ERROR|SUMMARY|Test unit written|number_of_executed|average_exec|Fatal error' "$work/$driver.log" ||
  tail -n 5 "$work/$driver.log"
exit $status
