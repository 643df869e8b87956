#!/bin/bash
# Peak resident memory (VmHWM) of `get` and `serve` while a large response passes: on a miss and on a
# hit, each in a process of its own, the body stored on disk and compared by SHA-256.
# The disk is 16G because a store takes no body longer than an eighth of its capacity.
#   memory.sh HTTPCACHE [BYTES] [LIMIT-IN-KIB]
set -u
bin=$1; size=${2:-1073741824}; limit=${3:-65536}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); passed=0; failed=0; children=()
trap 'for p in "${children[@]}"; do kill "$p" 2>/dev/null; done; rm -rf "$work"' EXIT
check() { if [ "$2" = yes ]; then passed=$((passed+1)); echo "ok   $1"; else failed=$((failed+1)); echo "FAIL $1"; fi; }
hwm() { awk '/^VmHWM/{print $2}' "/proc/$1/status" 2>/dev/null; }

python3 "$here/origin.py" > "$work/port" & children+=($!)
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.05; done
origin=http://127.0.0.1:$(cat "$work/port")
path=/size/$size/memory
want=$(curl -s "$origin/sha256$path")
served() { curl -s "$origin/count"; }

report() { # name peak expected-origin-count sha outcome
  echo "     $1: VmHWM $2 KiB ($(( $2 / 1024 )) MiB), origin sent $(served) bodies, $5"
  check "$1: under $limit KiB" "$([ "$2" -gt 0 ] && [ "$2" -lt "$limit" ] && echo yes)"
  check "$1: origin sent $3 bodies so far" "$([ "$(served)" = "$3" ] && echo yes)"
  check "$1: SHA-256 equal" "$([ "$4" = "$want" ] && echo yes)"
}

before=0
for round in miss hit; do
  rm -f "$work/out"
  t0=$(date +%s.%N)
  "$bin" get --dir "$work/get" --capacity 16G -o "$work/out" "$origin$path" 2> "$work/err" & pid=$!
  peak=0
  while kill -0 $pid 2>/dev/null; do h=$(hwm $pid); [ "${h:-0}" -gt "$peak" ] && peak=$h; sleep 0.02; done
  wait $pid; code=$?
  t1=$(date +%s.%N)
  check "get, $round: exit 0 (was $code)" "$([ $code = 0 ] && echo yes)"
  report "get, $round" "$peak" 1 "$(sha256sum < "$work/out" | cut -d' ' -f1)" \
    "$(awk "BEGIN{printf \"%.1f s\", $t1-$t0}"), $(tail -1 "$work/err" | sed "s#$origin##; s#; written to .*##")"
done
rm -f "$work/out"; rm -rf "$work/get"

for round in miss hit; do
  : > "$work/log"
  "$bin" serve --listen 127.0.0.1:0 --shared --upstream "$origin" --disk 16G --dir "$work/serve" > "$work/log" 2> "$work/err" & pid=$!
  children+=($pid); port=
  for _ in $(seq 200); do port=$(cat "$work/log" "$work/err" | grep -oE '127\.0\.0\.1:[0-9]+' | grep -v ":${origin##*:}\$" | head -1); [ -n "$port" ] && break; sleep 0.05; done
  t0=$(date +%s.%N)
  # The client's Host is a part of the key, and the second process has another port.
  curl -s -o /dev/null -H 'Host: memory.test' "http://$port$path"
  t1=$(date +%s.%N)
  peak=$(hwm $pid)
  # the same bytes once more, for the digest (not part of the peak on a miss)
  line=$(grep -F "$path" "$work/log" | tail -1)
  sha=$(curl -s -H 'Host: memory.test' "http://$port$path" | sha256sum | cut -d' ' -f1)
  report "serve --shared, $round" "$peak" 2 "$sha" "$(awk "BEGIN{printf \"%.1f s\", $t1-$t0}"), outcome ${line##*ms }"
  echo "     after a second request in the same process: $(hwm $pid) KiB"
  kill $pid; wait $pid 2>/dev/null
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
