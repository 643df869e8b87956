#!/bin/bash
# Real clients through `serve`, each twice: how many bytes came from the cache the second time, as the
# access log says. A client that is not installed is skipped by name.
#   clients.sh HTTPCACHE [PIP-INDEX-URL [PIP-PACKAGE [APT-PACKAGE…]]]
# curl, wget and Chromium ask an origin on loopback; apt-get asks this machine's own sources through
# --forward; pip asks the index given as second argument (default: the one pip is configured with) through --upstream. Some mirrors
# send neither a lifetime nor a validator, so that nothing may be kept (the reasons are printed); therefore
# both also ask a mirror on loopback that holds the same files with Last-Modified, as the usual ones do.
# A WebSocket client and server (the package `websockets`, in a venv), `git clone` and `git push`, and a file of 1.4 GiB
# go through as well.
# With `none` as second argument only that mirror is used, with packages made here.
set -u
bin=$1; shift
index=${1:-$(pip config get global.index-url 2> /dev/null || printf %s "${PIP_INDEX_URL:-}")}; [ $# -gt 0 ] && shift
package=${1:-idna}; [ $# -gt 0 ] && shift
debs=("$@"); [ ${#debs[@]} = 0 ] && debs=(hello bc)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); chmod 755 "$work"; passed=0; failed=0; origin_pid=; serve_pid=; mirror_pid=
trap 'kill $origin_pid $serve_pid $mirror_pid 2>/dev/null; rm -rf "$work"' EXIT
check() { if [ "$2" = yes ]; then passed=$((passed+1)); echo "ok   $1"; else failed=$((failed+1)); echo "FAIL $1"; fi; }
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy no_proxy NO_PROXY

python3 "$here/origin.py" > "$work/port" & origin_pid=$!
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.05; done
origin=http://127.0.0.1:$(cat "$work/port")

start() { # name, arguments of serve
  dir=$work/cache-$1; shift
  log=$work/log; : > "$log"; : > "$work/err"
  "$bin" serve --listen 127.0.0.1:0 --dir "$dir" --access-log json "$@" > "$log" 2> "$work/err" & serve_pid=$!
  port=
  for _ in $(seq 200); do
    port=$(sed -nE 's#.*listening on https?://127\.0\.0\.1:([0-9]+).*#\1#p' "$work/err" "$log" | head -1)
    [ -n "$port" ] && break; sleep 0.05
  done
}
stop() {
  kill $serve_pid; wait $serve_pid 2>/dev/null; serve_pid=
  grep -vE 'listening|shutting down' "$work/err" | sed -E 's#//[^/ "]+#//HOST#g; s/^/     stderr: /' | cut -c1-140 | sort | uniq -c | sort -rn | head -5
}
reasons() { # why the first answers were not stored: the same requests, seen with -v
  grep -oE 'notStored\(target: [^)]*\)' "$work/err" | sed -E 's/.*", (.*)\)/\1/' | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)/     not stored, \1 times: \2/'
  grep -v '^httpcache: [a-zA-Z]*(' "$work/err" > "$work/err2"; mv "$work/err2" "$work/err"; }
urls() { python3 -c '
import json, re, sys
for line in sys.stdin:
    try: e = json.loads(line)
    except ValueError: continue
    print("     %s %s %d %d B %s" % (e["method"], re.sub(r"//[^/]+", "//HOST", e["target"]), e["status"], e["bytes"], e["outcome"]))' < "$log"; }
# Does the machine's own mirror let a cache keep anything? Then the second time must come from the cache.
kept() { [ "$cached" -gt 0 ] || ! grep -q . "$work/bytes" || grep -q 'notStored' "$work/err"; }
mirror() { # a directory over HTTP, its files last changed 100 days ago
  find "$1" -type f -exec touch -d '100 days ago' {} +
  (cd "$1" && exec python3 -u -m http.server --bind 127.0.0.1 0) > "$work/mirror" 2>&1 & mirror_pid=$!
  for _ in $(seq 100); do mport=$(sed -nE 's/.* port ([0-9]+) .*/\1/p' "$work/mirror"); [ -n "$mport" ] && break; sleep 0.05; done; }
mark() { lines=$(wc -l < "$log"); }
since() { # name, must-hit: outcomes and bytes since the mark; hosts left out
  sleep 0.3
  tail -n +$((lines+1)) "$log" | NAME=$1 python3 -c '
import collections, json, os, sys
n, b = collections.Counter(), collections.Counter()
for line in sys.stdin:
    try: e = json.loads(line)
    except ValueError: continue
    k = e["outcome"]; n[k] += 1; b[k] += e["bytes"]
total = sum(b.values())
cached = sum(v for k, v in b.items() if k.startswith("hit") or k == "validated" or k.startswith("stale"))
parts = ", ".join("%d %s (%d B)" % (n[k], k, b[k]) for k in sorted(n))
print("     %s: %d requests, %d of %d B from the cache; %s" % (os.environ["NAME"], sum(n.values()), cached, total, parts))
open(sys.argv[1], "w").write("%d %d" % (cached, total))' "$work/bytes"
  read -r cached total < "$work/bytes"
}
same() { cmp -s "$1" "$2" && echo yes; }

echo "== curl and wget, --upstream"
start plain --shared --upstream "$origin"
u=http://127.0.0.1:$port
big=/size/5000000/clients
mark; curl -s -o "$work/a" "$u$big"; since "curl, first"
mark; curl -s -o "$work/b" "$u$big"; since "curl, second"
check "curl: all from the cache, same bytes" "$([ "$cached" = 5000000 ] && [ "$total" = 5000000 ] && same "$work/a" "$work/b")"
mark; curl -s -r 1000-1999 -o "$work/c" "$u$big"; since "curl -r, of what is stored"
check "curl -r: the bytes asked" "$(tail -c +1001 "$work/a" | head -c 1000 > "$work/d"; same "$work/c" "$work/d")"
if command -v wget > /dev/null; then
  w=/size/3000000/wget
  mark; wget -q -O "$work/a" "$u$w"; since "wget, first"
  mark; wget -q -O "$work/b" "$u$w"; since "wget, second"
  check "wget: all from the cache, same bytes" "$([ "$cached" = 3000000 ] && [ "$total" = 3000000 ] && same "$work/a" "$work/b")"
  head -c 1000000 "$work/a" > "$work/part"
  mark; (cd "$work" && wget -q -c -O part "$u$w"); since "wget -c, of 1000000 B"
  check "wget -c: whole and right" "$(same "$work/a" "$work/part")"
else echo "     wget: not installed, skipped"; fi
stop

echo "== curl and wget, --forward"
start forward --shared --forward
mark; curl -s -x "http://127.0.0.1:$port" -o "$work/a" "$origin/size/2000000/f"; since "curl -x, first"
mark; curl -s -x "http://127.0.0.1:$port" -o "$work/b" "$origin/size/2000000/f"; since "curl -x, second"
check "curl -x: all from the cache, same bytes" "$([ "$cached" = 2000000 ] && [ "$total" = 2000000 ] && same "$work/a" "$work/b")"
if command -v wget > /dev/null; then
  mark; http_proxy=http://127.0.0.1:$port wget -q -O "$work/b" "$origin/size/2000000/f"; since "wget by http_proxy"
  check "wget by http_proxy: all from the cache, same bytes" "$([ "$cached" = 2000000 ] && same "$work/a" "$work/b")"
fi
stop

port_of() { for _ in $(seq 200); do [ -s "$1" ] && break; sleep 0.05; done; cat "$1"; }

echo "== WebSockets, --upstream and --forward"
if python3 -m venv "$work/venv" 2> /dev/null && "$work/venv/bin/pip" install -q --disable-pip-version-check websockets > "$work/venv.out" 2>&1; then
  "$work/venv/bin/python3" "$here/websocket.py" serve > "$work/wsport" & mirror_pid=$!
  ws=$(port_of "$work/wsport")
  start websocket --shared --upstream "http://127.0.0.1:$ws"
  answer=$("$work/venv/bin/python3" "$here/websocket.py" ask "ws://127.0.0.1:$port/chat" 2>&1 | tail -1)
  check "WebSocket echo through --upstream: $answer" "$([ "$answer" = echoed ] && echo yes)"
  stop
  start websocket2 --shared --forward --connect-port "$ws"
  answer=$("$work/venv/bin/python3" "$here/websocket.py" ask "ws://127.0.0.1:$ws/chat" "http://127.0.0.1:$port" 2>&1 | tail -1)
  check "WebSocket echo through --forward (CONNECT): $answer" "$([ "$answer" = echoed ] && echo yes)"
  stop; kill $mirror_pid; wait $mirror_pid 2>/dev/null; mirror_pid=
else echo "     websockets: cannot be installed, skipped"; fi

echo "== git over http, --upstream and --forward"
if command -v git > /dev/null; then
  mkdir "$work/git"
  (cd "$work/git" && git init -q --bare a.git && git init -q b && cd b && head -c 3000000 /dev/urandom > data && git add data \
    && git -c user.name=n -c user.email=e@example.com commit -qm one && git push -q ../a.git HEAD:refs/heads/main \
    && git -C ../a.git symbolic-ref HEAD refs/heads/main && git -C ../a.git config http.receivepack true)
  python3 "$here/githttp.py" "$work/git" > "$work/gitport" & mirror_pid=$!
  repository=$(port_of "$work/gitport")
  head_of() { git -C "$1" rev-parse HEAD 2> /dev/null; }
  start git --shared --upstream "http://127.0.0.1:$repository"
  git clone -q "http://127.0.0.1:$port/a.git" "$work/clone1"
  check "git clone through --upstream" "$([ -n "$(head_of "$work/clone1")" ] && [ "$(head_of "$work/clone1")" = "$(head_of "$work/git/b")" ] && echo yes)"
  (cd "$work/clone1" && head -c 3000000 /dev/urandom > more && git add more && git -c user.name=n -c user.email=e@example.com commit -qm two && git push -q origin HEAD:main)
  git clone -q "http://127.0.0.1:$port/a.git" "$work/clone2"
  check "git push of 3 MB, then git clone sees it" "$([ "$(head_of "$work/clone2")" = "$(head_of "$work/clone1")" ] && [ -s "$work/clone2/more" ] && echo yes)"
  stop
  start git2 --shared --forward
  git -c http.proxy="http://127.0.0.1:$port" clone -q "http://127.0.0.1:$repository/a.git" "$work/clone3"
  check "git clone through --forward" "$([ "$(head_of "$work/clone3")" = "$(head_of "$work/clone1")" ] && echo yes)"
  stop; kill $mirror_pid; wait $mirror_pid 2>/dev/null; mirror_pid=
else echo "     git: not installed, skipped"; fi

echo "== 1.4 GiB with default settings, --upstream"
start large --upstream "$origin"
large=/size/1503238553/large
for round in first second; do
  mark; got=$(curl -s "http://127.0.0.1:$port$large" | sha256sum | cut -d' ' -f1); since "1.4 GiB, $round"
  check "1.4 GiB, $round: the bytes of the origin" "$([ "$got" = "$(curl -s "$origin/sha256$large")" ] && echo yes)"
done
echo "     peak resident memory of serve: $(awk '/^VmHWM/{print int($2 / 1024)}' "/proc/$serve_pid/status") MiB"
stop

echo "== Chromium, --forward and --upstream"
chrome=; for c in chromium chromium-browser google-chrome; do command -v $c > /dev/null && chrome=$c && break; done
if [ -n "$chrome" ]; then
  browse() { # URL, output, options; a fresh profile each time, so that Chromium's own cache is empty
    local url=$1 out=$2; shift 2; rm -rf "$work/profile"
    timeout 90 $chrome --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking --disable-component-update --disable-sync \
      --user-data-dir="$work/profile" "$@" --dump-dom "$url" > "$out" 2> "$work/chrome.err"
  }
  for way in forward upstream; do
    if [ $way = forward ]; then
      start chrome-forward --shared --forward
      url=$origin/site/page.html; options=(--proxy-server="http://127.0.0.1:$port" "--proxy-bypass-list=<-loopback>")
    else
      start chrome-upstream --shared --upstream "$origin"
      url=http://127.0.0.1:$port/site/page.html; options=()
    fi
    mark; browse "$url" "$work/a" "${options[@]}"; since "Chromium by --$way, first"
    mark; browse "$url" "$work/b" "${options[@]}"; since "Chromium by --$way, second"
    check "Chromium by --$way: page, style, script and image from the cache, the script ran" \
      "$([ "$cached" -gt 250000 ] && grep -q 'the script ran' "$work/b" && same "$work/a" "$work/b")"
    stop
  done
else echo "     Chromium: not installed, skipped"; fi

echo "== apt-get, --forward"
owned() { mkdir -p "$1"; [ "$(id -u)" = 0 ] && id _apt > /dev/null 2>&1 && chown -R _apt "$1"; }
if command -v apt-get > /dev/null; then
  fetch() { local to=$1; shift; owned "$to"; (cd "$to" && apt-get -q -o Acquire::http::Proxy="http://127.0.0.1:$port" "$@" download "${debs[@]}" > out 2>&1); }
  update() { local to=$1; shift; owned "$to/partial"; apt-get -q -o Acquire::http::Proxy="http://127.0.0.1:$port" -o Dir::State::lists="$to" "$@" update > "$to.out" 2>&1; }
  all_same() { for f in "$1"/*.deb; do cmp -s "$f" "$2/$(basename "$f")" || return; done; echo yes; }
  if [ "$index" = none ]; then
    debs=(evidence-one evidence-two); mkdir -p "$work/apt1"
    for name in "${debs[@]}"; do
      mkdir -p "$work/deb/DEBIAN"; head -c 60000 /dev/urandom > "$work/deb/$name"
      printf 'Package: %s\nVersion: 1.0\nArchitecture: all\nMaintainer: Nobody <nobody@example.com>\nDescription: evidence\n' "$name" > "$work/deb/DEBIAN/control"
      dpkg-deb --root-owner-group --build "$work/deb" "$work/apt1/${name}_1.0_all.deb" > /dev/null; rm -r "$work/deb"
    done
  else
  start apt --shared --forward -v
  mark; fetch "$work/apt1"; code1=$?; since "this machine's sources, apt-get download ${debs[*]}, first"
  mark; fetch "$work/apt2"; code2=$?; since "this machine's sources, apt-get download ${debs[*]}, second"
  check "apt-get download: exit 0 both times ($code1, $code2), same files" "$([ $code1 = 0 ] && [ $code2 = 0 ] && all_same "$work/apt1" "$work/apt2")"
  check "apt-get download: from the cache, or the reason is named" "$(kept && echo yes)"
  mark; update "$work/lists1"; code1=$?; since "this machine's sources, apt-get update, first"
  mark; update "$work/lists2"; code2=$?; since "this machine's sources, apt-get update with empty lists, second"
  check "apt-get update: exit 0 both times ($code1, $code2)" "$([ $code1 = 0 ] && [ $code2 = 0 ] && echo yes)"
  urls; reasons; stop
  fi

  mkdir "$work/repo"; cp "$work"/apt1/*.deb "$work/repo"
  for f in "$work"/repo/*.deb; do
    dpkg-deb -f "$f"; echo "Filename: ./$(basename "$f" | sed 's/%/%25/g')"; echo "Size: $(stat -c %s "$f")"; echo "SHA256: $(sha256sum < "$f" | cut -d' ' -f1)"; echo
  done > "$work/repo/Packages"
  mirror "$work/repo"
  echo "deb [trusted=yes allow-insecure=yes] http://127.0.0.1:$mport ./" > "$work/sources.list"
  own=(-o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$work/lists3")
  start apt2 --shared --forward -v
  mark; update "$work/lists3" "${own[@]}"; code1=$?; since "loopback mirror, apt-get update, first"
  rm -rf "$work/lists3"
  mark; update "$work/lists3" "${own[@]}"; code2=$?; since "loopback mirror, apt-get update with empty lists, second"
  check "loopback mirror, apt-get update: exit 0 both times ($code1, $code2), lists from the cache" "$([ $code1 = 0 ] && [ $code2 = 0 ] && [ "$cached" -gt 0 ] && echo yes)"
  mark; fetch "$work/apt3" "${own[@]}"; code1=$?; since "loopback mirror, apt-get download ${debs[*]}, first"
  mark; fetch "$work/apt4" "${own[@]}"; code2=$?; since "loopback mirror, apt-get download ${debs[*]}, second"
  check "loopback mirror, apt-get download: exit 0 both times ($code1, $code2), all from the cache" "$([ $code1 = 0 ] && [ $code2 = 0 ] && [ "$cached" -gt 0 ] && [ "$cached" = "$total" ] && echo yes)"
  check "loopback mirror, apt-get download: same files" "$(all_same "$work/apt3" "$work/apt4")"
  [ "$failed" = 0 ] || tail -n 5 "$work/apt3/out" "$work/lists3.out" 2>/dev/null | sed -E 's#//[^/ ]+#//HOST#g; s/^/     /'
  urls; reasons; stop; kill $mirror_pid; wait $mirror_pid 2>/dev/null; mirror_pid=
else echo "     apt-get: not installed, skipped"; fi

echo "== pip, --upstream"
if command -v pip > /dev/null; then
  load() { mkdir -p "$1"; env -u PIP_INDEX_URL -u PIP_EXTRA_INDEX_URL PIP_FIND_LINKS= pip download --no-deps --no-cache-dir --disable-pip-version-check \
    -i "http://127.0.0.1:$port$2" -d "$1" "$package" > "$1.out" 2>&1; }
  bypass() { # did the file itself come through?
    local size; size=$(stat -c %s "$1"/* | head -1)
    if grep -qE '"target":"[^"]*(\.whl|\.tar\.gz|\.zip)' "$log"; then echo "     the file itself ($size B) came through the proxy"
    else echo "     the file itself ($size B) bypassed the proxy: the index names it by an absolute URL on another host"; fi; }
  if [ -n "$index" ] && [ "$index" != none ]; then
  base=$(printf %s "$index" | sed -E 's#^(https?://[^/]+).*#\1#')
  start pip --shared --upstream "$base" -v
  mark; load "$work/pip1" "${index#"$base"}"; code1=$?; since "the index given, pip download $package, first"
  mark; load "$work/pip2" "${index#"$base"}"; code2=$?; since "the index given, pip download $package, second"
  check "pip: exit 0 both times ($code1, $code2)" "$([ $code1 = 0 ] && [ $code2 = 0 ] && echo yes)"
  check "pip: from the cache, or the reason is named" "$(kept && echo yes)"
  urls; bypass "$work/pip2"; reasons; stop
  else echo "     no index given, skipped"; fi

  # a wheel of the same name where none came: 100 kB that do not compress
  [ -n "$(ls "$work/pip1" 2>/dev/null)" ] || { mkdir -p "$work/pip1"; python3 - "$work/pip1" "$package" <<'P'
import os, sys, zipfile
name = sys.argv[2].replace("-", "_")
with zipfile.ZipFile(os.path.join(sys.argv[1], name + "-1.0-py3-none-any.whl"), "w") as z:
    z.writestr(name + "/data", os.urandom(100_000))
    z.writestr(name + "-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n" % sys.argv[2])
    z.writestr(name + "-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: evidence\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr(name + "-1.0.dist-info/RECORD", "")
P
  }
  mkdir -p "$work/index/simple/$package" "$work/index/files"; cp "$work"/pip1/* "$work/index/files"
  for f in "$work"/index/files/*; do n=$(basename "$f"); echo "<a href=\"../../files/$n#sha256=$(sha256sum < "$f" | cut -d' ' -f1)\">$n</a>"; done > "$work/index/simple/$package/index.html"
  mirror "$work/index"
  start pip2 --shared --upstream "http://127.0.0.1:$mport" -v
  mark; load "$work/pip3" /simple; code1=$?; since "loopback index, pip download $package, first"
  mark; load "$work/pip4" /simple; code2=$?; since "loopback index, pip download $package, second"
  check "loopback index, pip: exit 0 both times ($code1, $code2), all from the cache, same file" \
    "$([ $code1 = 0 ] && [ $code2 = 0 ] && [ "$cached" -gt 0 ] && [ "$cached" = "$total" ] && diff -r "$work/pip3" "$work/pip4" > /dev/null && echo yes)"
  urls; bypass "$work/pip4"; reasons; stop; kill $mirror_pid; wait $mirror_pid 2>/dev/null; mirror_pid=
else echo "     pip: not installed, skipped"; fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
