#!/bin/bash
# Peak resident memory (VmHWM) of a process that puts a large response through CachedURLSession, each
# way in a process of its own; release build, the body stored on disk where it may be stored.
#   urlsession-memory.sh [BYTES] [LIMIT-IN-KIB] [MIB-PER-SECOND]
# The last is the speed of the slow reader; the origin sends as fast as it can.
set -u
size=${1:-1073741824}; limit=${2:-65536}; rate=${3:-100}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); passed=0; failed=0; children=()
trap 'for p in "${children[@]}"; do kill "$p" 2>/dev/null; done; rm -rf "$work"' EXIT
check() { if [ "$2" = yes ]; then passed=$((passed+1)); echo "ok   $1"; else failed=$((failed+1)); echo "FAIL $1"; fi; }

package=$here/../Benchmarks
swift build --package-path "$package" -c release --product session-memory > "$work/build" 2>&1 ||
  { tail -20 "$work/build"; exit 1; }
program=$(swift build --package-path "$package" -c release --show-bin-path)/session-memory

python3 "$here/ranges.py" > "$work/port" & children+=($!)
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.05; done
origin=http://127.0.0.1:$(cat "$work/port")

run() { # name yes|no-limit way path directory option
  before=$(curl -s "$origin/count")
  out=$("$program" "$3" "$origin/$4/$size" "$5" "${6:-}" 2>&1)
  read -r peak count seconds outcome <<< "$(tail -1 <<< "$out")"
  requests=$(( $(curl -s "$origin/count") - before ))
  echo "     $1: VmHWM $(( ${peak:-0} / 1024 )) MiB (${peak:-0} KiB), $seconds s, $requests requests, $outcome"
  check "$1: $size bytes, the right ones" "$([ "${count:-0}" = "$size" ] && ! grep -q WRONG <<< "$out" && echo yes)"
  [ "$2" = yes ] && check "$1: under $limit KiB" "$([ "${peak:-0}" -gt 0 ] && [ "$peak" -lt "$limit" ] && echo yes)"
}
same() { # name file
  check "$1: the file has the right bytes" "$(python3 - "$2" "$size" <<'P'
import sys
sys.argv, path, size = sys.argv[:1], sys.argv[1], int(sys.argv[2])
block = bytes((i ^ (i >> 8)) & 255 for i in range(65521)); at = 0; right = True
with open(path, "rb") as f:
    while piece := f.read(len(block)):
        right = right and piece == block[: len(piece)]; at += len(piece)
print("yes" if right and at == size else "no")
P
)"; }

run "download, miss" yes download ranges "$work/a" "$work/out"; same "download, miss" "$work/out"
run "download, hit" yes download ranges "$work/a" "$work/out"; same "download, hit" "$work/out"
rm -rf "$work/a" "$work/out"
run "download, not stored, no ranges" no download plain - "$work/out"; rm -f "$work/out"
run "bytes, fast reader, not stored" yes bytes passing -
run "bytes, $rate MiB/s, not stored" yes bytes passing - "$rate"
run "bytes, $rate MiB/s, stored, miss" yes bytes ranges "$work/b" "$rate"
run "bytes, $rate MiB/s, stored, hit" yes bytes ranges "$work/b" "$rate"
rm -rf "$work/b"
run "bytes, $rate MiB/s, not stored, no ranges" no bytes plain - "$rate"
truncate -s "$size" "$work/up"
out=$("$program" upload "$origin/passing/1" - "$work/up" 2>&1)
peak=$(tail -1 <<< "$out" | cut -d' ' -f1)
echo "     upload of a file: VmHWM $(( peak / 1024 )) MiB ($peak KiB), $(tail -1 <<< "$out" | cut -d' ' -f3) s"
check "upload of a file: under $limit KiB" "$([ "$peak" -gt 0 ] && [ "$peak" -lt "$limit" ] && echo yes)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
