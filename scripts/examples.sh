#!/usr/bin/env bash
# Runs the examples of Tools/Examples against an origin on this machine, from the debug build.
cd "$(dirname "$0")/.."
source scripts/lib.sh

bin=.build/debug
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/caches
running=()
stop() {
  for process in "${running[@]}"; do kill "$process" 2>/dev/null || true; wait "$process" 2>/dev/null || true; done
  running=()
}
trap 'stop; rm -rf "$work"' EXIT
failed=0

# Starts a program that listens on a port, and waits until it does: start PORT COMMAND...
start() {
  local port=$1
  shift
  "$@" >>"$work/server.log" 2>&1 &
  running+=($!)
  for _ in $(seq 200); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return; fi
    kill -0 $! 2>/dev/null || { cat "$work/server.log"; echo "$1 did not start"; exit 1; }
    sleep 0.1
  done
  echo "$1 does not listen"
  exit 1
}

# Runs a command whose output must contain a text: expect NAME TEXT COMMAND...
expect() {
  local name=$1 text=$2 output
  shift 2
  output=$("$@" 2>&1) || true
  if grep -qF -- "$text" <<<"$output"; then
    echo "ok: $name: $text"
  else
    echo "FAILED: $name: no '$text' in:"
    echo "$output"
    failed=1
  fi
}

port=$(free_port)
origin=http://127.0.0.1:$port
start "$port" "$bin/ExampleOrigin" "$port"

expect "news, online" "Caches hold" "$bin/OfflineNews" "$origin/news.json"
expect "API, first" "swift: 42 stars (loaded; 59 requests left)" "$bin/APIClient" "$origin" swiftlang/swift
expect "API, again" "swift: 42 stars (not changed, not counted; 59 requests left)" \
  "$bin/APIClient" "$origin" swiftlang/swift
expect "large file, first" "Downloaded." "$bin/LargeFile" "$origin/flight-plan.pdf" "$work/plan.pdf"
[ "$(wc -c <"$work/plan.pdf")" = 20702285 ] || { echo "FAILED: the file is not whole"; failed=1; }
mkdir "$work/downloads"
expect "downloads" "downloaded" "$bin/Downloads" "$work/downloads" "$origin/flight-plan.pdf"
cmp "$work/plan.pdf" "$work/downloads/flight-plan.pdf" || failed=1
expect "downloads, again" "not changed" "$bin/Downloads" "$work/downloads" "$origin/flight-plan.pdf"
expect "contact sheet" "2 of 2 images on $work/sheet.png" \
  "$bin/ContactSheet" "$work/sheet.png" "$origin/photos/1.png" "$origin/photos/2.png"
shipped=$work/shipped/127.0.0.1_$port
mkdir -p "$shipped"
echo "shipped news" >"$shipped/news.json"
echo "shipped page" >"$shipped/about.html"
expect "shipped content, newer at the origin" "Caches hold" "$bin/ShippedContent" "$work/shipped" "$origin/news.json"
cp "$work/plan.pdf" "$work/first.pdf"
rm "$work/plan.pdf"
stop
expect "large file, offline" "From the cache, without asking the origin." \
  "$bin/LargeFile" "$origin/flight-plan.pdf" "$work/plan.pdf"
cmp "$work/first.pdf" "$work/plan.pdf" || failed=1
expect "contact sheet, offline" "2 of 2 images on $work/sheet.png" \
  "$bin/ContactSheet" "$work/sheet.png" "$origin/photos/1.png" "$origin/photos/2.png"
expect "shipped content, offline" "shipped page" "$bin/ShippedContent" "$work/shipped" "$origin/about.html"
expect "news, offline" "No connection. These are the news of" "$bin/OfflineNews" "$origin/news.json"

port=$(free_port)
api=$(free_port)
start "$api" "$bin/ExampleOrigin" "$api"
start "$port" "$bin/ServerExample" "$port" "http://127.0.0.1:$api"
expect "server, first" "fwd=uri-miss" curl -s -D - "http://127.0.0.1:$port/articles/1"
expect "server, again" "articles; hit" curl -s -D - "http://127.0.0.1:$port/articles/1"
expect "server, from an API" "Caches hold" curl -s "http://127.0.0.1:$port/news"
kill "${running[0]}"
wait "${running[0]}" 2>/dev/null || true
expect "server, without the API" "Caches hold" curl -s "http://127.0.0.1:$port/news"
stop

if redis=$(command -v redis-server || command -v valkey-server); then
  tier=$(free_port)
  start "$tier" "$redis" --port "$tier" --bind 127.0.0.1 --save "" --dir "$work"
  ports=()
  for _ in 1 2 3; do
    port=$(free_port)
    start "$port" "$bin/ServerExample" "$port" "$origin" "redis://127.0.0.1:$tier"
    ports+=("$port")
  done
  expect "three servers, the first" "fwd=uri-miss" curl -s -D - "http://127.0.0.1:${ports[0]}/articles/1"
  for port in "${ports[@]:1}"; do
    expect "three servers, another" "fleet; hit" curl -s -D - "http://127.0.0.1:$port/articles/1"
  done
else
  echo "skipped: three servers of a fleet: redis-server is not installed"
fi
exit $failed
