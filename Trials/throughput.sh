#!/bin/bash
# Measures the throughput of a large response beside a client without a cache: curl through `serve`, which
# stores it (miss) and then serves it (hit), against the same curl from the origin, and `get` against curl,
# each into a file. Prints the ratios of the best of some rounds, and the peak resident memory (VmHWM) of
# `serve` and `get`, with their memory tier on.
#   throughput.sh HTTPCACHE [BYTES] [ROUNDS] [LIMIT-IN-KIB]
set -u
bin=$1; size=${2:-1073741824}; rounds=${3:-3}; limit=${4:-65536}; least=0.8
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/throughput-XXXXXX"); passed=0; failed=0; children=()
trap 'for p in "${children[@]}"; do kill "$p" 2>/dev/null; done; wait 2>/dev/null; rm -rf "$work"' EXIT
check() { if [ "$2" = yes ]; then passed=$((passed+1)); echo "ok   $1"; else failed=$((failed+1)); echo "FAIL $1"; fi; }
hwm() { awk '/^VmHWM/{print $2}' "/proc/$1/status" 2>/dev/null; }

python3 "$here/origin.py" > "$work/port" & children+=($!)
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.05; done
origin=http://127.0.0.1:$(cat "$work/port")

declare -A best
took() { # name, command...: the seconds of a command, the best of the rounds is kept
  local name=$1 start end seconds; shift
  rm -f "$work/out"; sync -f "$work"
  start=$(date +%s.%N); "$@" || echo "     $name: exit $?"; end=$(date +%s.%N)
  seconds=$(awk "BEGIN{print $end-$start}")
  [ "$(stat -c %s "$work/out" 2>/dev/null)" = "$size" ] || { echo "     $name: not all bytes came"; seconds=1e9; }
  best[$name]=$(awk "BEGIN{print (\"${best[$name]:-}\" == \"\" || $seconds < ${best[$name]:-0}) ? $seconds : ${best[$name]:-0}}")
}
peak=0
keep_peak() { local now; now=$(hwm "$1"); [ "${now:-0}" -gt "$peak" ] && peak=$now; }
run_get() { # arguments: `get`, watched
  "$bin" get "$@" 2> "$work/err" & local pid=$!
  while kill -0 $pid 2>/dev/null; do keep_peak $pid; sleep 0.02; done
  wait $pid
}

serve_peak=0
for round in $(seq "$rounds"); do
  path=/size/$size/throughput-$round
  took "curl from the origin" curl -s -o "$work/out" "$origin$path"
  want=$(sha256sum < "$work/out")
  took "get, miss" run_get --dir "$work/get" --capacity 16G -o "$work/out" "$origin$path"
  check "round $round, get, miss: right bytes" "$([ "$(sha256sum < "$work/out")" = "$want" ] && echo yes)"
  took "get, hit" run_get --dir "$work/get" --capacity 16G -o "$work/out" "$origin$path"
  check "round $round, get, hit: right bytes" "$([ "$(sha256sum < "$work/out")" = "$want" ] && echo yes)"
  rm -rf "$work/get"

  "$bin" serve --listen 127.0.0.1:0 --shared --upstream "$origin" --disk 16G --dir "$work/serve" > "$work/log" 2> "$work/err" & pid=$!
  children+=($pid); port=
  for _ in $(seq 200); do
    port=$(sed -nE 's#.*listening on https?://127\.0\.0\.1:([0-9]+).*#\1#p' "$work/err" "$work/log" | head -1)
    [ -n "$port" ] && break; sleep 0.05
  done
  for kind in "miss" "first hit" "later hit"; do
    took "serve, $kind" curl -s -o "$work/out" "http://127.0.0.1:$port$path"
    check "round $round, serve, $kind: right bytes" "$([ "$(sha256sum < "$work/out")" = "$want" ] && echo yes)"
  done
  now=$(hwm $pid); [ "${now:-0}" -gt "$serve_peak" ] && serve_peak=$now
  kill $pid; wait $pid 2>/dev/null; rm -rf "$work/serve"
done

base=${best["curl from the origin"]}
for name in "curl from the origin" "get, miss" "get, hit" "serve, miss" "serve, first hit" "serve, later hit"; do
  awk "BEGIN{printf \"     %-22s %6.2f s, %5.0f MB/s, %.2f x curl\n\", \"$name\", ${best[$name]}, $size/${best[$name]}/1e6, $base/${best[$name]}}"
  [ "$name" = "curl from the origin" ] || \
    check "$name: at least $least x the speed of curl" "$(awk "BEGIN{print ($base/${best[$name]} >= $least) ? \"yes\" : \"\"}")"
done
echo "     VmHWM: get $peak KiB, serve $serve_peak KiB"
check "get: under $limit KiB" "$([ "$peak" -gt 0 ] && [ "$peak" -lt "$limit" ] && echo yes)"
check "serve: under $limit KiB" "$([ "$serve_peak" -gt 0 ] && [ "$serve_peak" -lt "$limit" ] && echo yes)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
