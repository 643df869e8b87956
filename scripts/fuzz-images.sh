#!/usr/bin/env bash
# Fuzzes the image decoders with libFuzzer and AddressSanitizer for FUZZ_SECONDS, 60 unless set. The codecs of the
# system are not instrumented; AddressSanitizer sees their use of the heap.
#
# New inputs are in .build/fuzz-images/corpus, inputs that break a rule in .build/fuzz-images/crashes.
cd "$(dirname "$0")/.."
source scripts/lib.sh

work=.build/fuzz-images
mkdir -p "$work/corpus" "$work/crashes"
# The stack trace of Swift's own handler waits for a debugger in some containers.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0:abort_on_error=0
scripts/link-fuzzing.sh images "$work" -sanitize=fuzzer,address
status=0
"$work/images" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
  -artifact_prefix="$work/crashes/" -print_final_stats=1 "$work/corpus" Tests/HTTPCacheImagesTests/Fixtures \
  >"$work/images.log" 2>&1 || status=$?
grep -E '^violated|ERROR|SUMMARY|Test unit written|number_of_executed|average_exec|Fatal error' "$work/images.log" ||
  tail -n 5 "$work/images.log"
exit $status
