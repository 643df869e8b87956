#!/usr/bin/env bash
# Tests the store on disk with kills, crashes, failing system calls, power losses and corruptions.
#   torture.sh              all of it, optimized: 1,000 kills, 10,000 corruptions
#   torture.sh --encrypted  the faults on an encrypted store
#   torture.sh short        at least 20 of each with the build of the tests; about a minute
#   torture.sh [--encrypted] [--seed N] [--kills N] [--corruptions N] [--power N] [--step N]
cd "$(dirname "$0")/.."
source scripts/lib.sh
export SWIFT_BACKTRACE=enable=no
# Use a folder in memory if there is one: otherwise most of the time goes into syncs.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi

if [ "${1:-}" = short ]; then
  program=.build/debug/cache-torture
  [ -x "$program" ] || swift_build "${root[@]}" --product cache-torture
  timeout 300 "$program" --short
  exec timeout 300 "$program" --encrypted --short
fi
build=(--configuration release --product cache-torture --scratch-path .build/torture)
swift build "${build[@]}"
exec timeout 7200 "$(swift build "${build[@]}" --show-bin-path)/cache-torture" "$@"
