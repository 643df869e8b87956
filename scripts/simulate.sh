#!/usr/bin/env bash
# Replays traces of requests with the eviction policy of the stores: the tables of docs/performance.md.
#
#   simulate.sh [--check] [TRACE...]
#
# Without arguments, replays all files of the folder TRACES (../shared/traces). A trace is a sequence of 16-byte
# records, little-endian (u32 seconds, u64 object, u32 size), as *.bin or compressed as *.bin.zst.
# --check fails if the means miss their targets.
cd "$(dirname "$0")/.."
set -euo pipefail

export SWIFT_BACKTRACE=enable=no
options=()
files=()
for argument in "$@"; do
  if [ "$argument" = --check ]; then options+=(--check); else files+=("$argument"); fi
done
if [ ${#files[@]} -eq 0 ]; then
  folder=${TRACES:-../shared/traces}
  for file in "$folder"/*.bin "$folder"/*.bin.zst; do [ ! -e "$file" ] || files+=("$file"); done
  [ ${#files[@]} -gt 0 ] || { echo "skipped: there are no traces in $folder"; exit 0; }
fi

work=.build/simulate
mkdir -p "$work"
if ! swift build --disable-build-manifest-caching --package-path Benchmarks -c release --product cache-simulator \
  >"$work/build.log" 2>&1; then
  cat "$work/build.log"
  exit 1
fi
traces=()
for file in "${files[@]}"; do
  if [[ $file == *.zst ]]; then
    command -v zstd >/dev/null || { echo "skipped: $file needs zstd"; continue; }
    unpacked=$work/$(basename "$file" .zst)
    zstd -q -f -d --long=27 -o "$unpacked" "$file"
    traces+=("$unpacked")
  else
    traces+=("$file")
  fi
done
[ ${#traces[@]} -gt 0 ] || exit 0
program=$(swift build --package-path Benchmarks -c release --show-bin-path)/cache-simulator
exec "$program" ${options[@]+"${options[@]}"} "${traces[@]}"
