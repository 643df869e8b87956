#!/usr/bin/env bash
# Runs the public HTTP cache tests against `httpcache serve`, if they are there.
# Usage: conformance.sh [PATH OF httpcache]
cd "$(dirname "$0")/.."
source scripts/lib.sh

least=135
suite=${CONFORMANCE_SUITE:-../shared/conformance}
rm -f "$results/conformance.count"
if [ ! -e "$suite/run.py" ] || ! command -v python3 >/dev/null 2>&1; then
  echo "skipped: $suite/run.py or python3 is not there"
  exit 0
fi

program=${1:-Tools/.build/debug/httpcache}
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
port=$(free_port)
origin=$(free_port)
directory=$(mktemp -d)
"$program" serve --shared --dir "$directory" --listen "127.0.0.1:$port" \
  --upstream "http://127.0.0.1:$origin" >"$results/serve.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$directory"' EXIT

for _ in $(seq 100); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$results/serve.log"; echo "serve did not start"; exit 1; }
  sleep 0.1
done

python3 "$suite/run.py" --tests "$suite/tests.json" --base "http://127.0.0.1:$port" \
  --origin-port "$origin" --json "$results/conformance.json" >"$results/conformance.txt" 2>&1 ||
  { tail -n 20 "$results/conformance.txt"; exit 1; }

read -r required failed optimal missed < <(
  awk '$1 == "TOTAL" { print $2, $3, $4, $5 }' "$results/conformance.txt")
{
  echo "required: $required passed, $failed failed"
  echo "optimal: $optimal passed, $missed missed"
  sed -n '/^required tests not passed/,$p' "$results/conformance.txt"
} >"$results/conformance-summary.txt"
cat "$results/conformance-summary.txt"
if [ "${required:-0}" -lt $least ]; then
  echo "FAILED: fewer than $least required tests passed"
  note conformance "${required:-0}" $((least - ${required:-0}))
  exit 1
fi
note conformance "$required" 0
