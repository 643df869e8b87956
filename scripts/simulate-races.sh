#!/usr/bin/env bash
# Simulates interleavings of requests, invalidations and faults; each seed is one (Simulation/README.md).
#   simulate-races.sh                     30 seconds, optimized
#   simulate-races.sh short               30 seconds with the build of the tests
#   simulate-races.sh --seed N --count N [OPTION...]  this many worlds from a seed on, on all processors
#   simulate-races.sh OPTION...           options of simulate-races
cd "$(dirname "$0")/.."
source scripts/lib.sh
export SWIFT_BACKTRACE=enable=no SWIFT_DETERMINISTIC_HASHING=1

if [ "${1:-}" = short ]; then
  program=.build/debug/simulate-races
  [ -x "$program" ] || swift build "${root[@]}" --product simulate-races
  check simulate-races timeout 300 "$program" --seconds 30
  check simulate-fleet timeout 300 "$program" --fleet --seconds 15
  exit
fi
build=(--configuration release --product simulate-races --scratch-path .build/simulate-races)
swift build "${build[@]}"
program=$(swift build "${build[@]}" --show-bin-path)/simulate-races
if [ $# -lt 4 ] || [ "$1" != --seed ] || [ "$3" != --count ]; then exec "$program" "$@"; fi

# One process for each processor, each with its own seeds.
seed=$2 count=$4
shift 4
jobs=$(getconf _NPROCESSORS_ONLN)
part=$(((count + jobs - 1) / jobs))
running=()
for ((from = 0; from < count; from += part)); do
  "$program" --seed $((seed + from)) --count $((part < count - from ? part : count - from)) "$@" &
  running+=($!)
done
failed=0
for process in "${running[@]}"; do wait "$process" || failed=1; done
exit $failed
