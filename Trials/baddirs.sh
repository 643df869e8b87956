#!/bin/bash
# Cache directories that are unwritable, full, vanished while running, or of a newer format: requests go on
# uncached with a line on standard error; a newer format is refused and left untouched.
#   baddirs.sh HTTPCACHE
# The full directory needs permission to mount a tmpfs; the unwritable one, as root, needs setpriv. A missing one is
# skipped by name.
set -u
bin=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); chmod 755 "$work"; passed=0; failed=0; origin_pid=; serve_pid=; mounted=
finish() { kill $origin_pid $serve_pid 2>/dev/null; wait 2>/dev/null; [ -n "$mounted" ] && umount "$mounted"; chmod -R u+w "$work"; rm -rf "$work"; }
trap finish EXIT
check() { if [ "$2" = yes ]; then passed=$((passed+1)); echo "ok   $1"; else failed=$((failed+1)); echo "FAIL $1"; fi; }

python3 "$here/origin.py" > "$work/port" & origin_pid=$!
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.05; done
origin=http://127.0.0.1:$(cat "$work/port")
as=()
clean() { sed -e "s#$work#WORK#g; s#$origin#ORIGIN#g"; }
start() { # dir, options
  dir=$1; shift
  : > "$work/err"; : > "$work/log"; port=
  "${as[@]}" "$bin" serve --listen 127.0.0.1:0 --shared --upstream "$origin" --memory 1M --dir "$dir" --allow-no-cache "$@" > "$work/log" 2> "$work/err" & serve_pid=$!
  for _ in $(seq 100); do
    port=$(sed -nE 's#.*listening on https?://127\.0\.0\.1:([0-9]+).*#\1#p' "$work/err" "$work/log" | head -1)
    [ -n "$port" ] && break; kill -0 $serve_pid 2>/dev/null || break; sleep 0.05
  done
}
stop() { [ -n "$serve_pid" ] && { kill $serve_pid 2>/dev/null; wait $serve_pid 2>/dev/null; code=$?; serve_pid=; }; }
# The client's Host is a part of the key, and each process listens on another port.
right() { # path: does serve give what the origin gives?
  [ "$(curl -s -m 20 -H 'Host: baddirs.test' "http://127.0.0.1:$port$1" | sha256sum | cut -d' ' -f1)" = "$(curl -s "$origin/sha256$1")" ] && echo yes; }
several() { # tag, sizes: all right?
  local tag=$1; shift; for s in "$@"; do [ "$(right "/size/$s/$tag")" = yes ] || { echo "wrong at $s" >&2; return; }; done; echo yes; }
said() { grep -av 'listening on' "$work/err" | grep -q . && echo yes; }
tell() { grep -av 'listening on' "$work/err" | clean | cut -c1-300 | sort | uniq -c | sort -rn | head -${1:-4} | sed 's/^ */     stderr, times /'
         echo "     outcomes: $(awk '{print $NF}' "$work/log" | sort | uniq -c | tr -s ' \n' ' ')"; }
get() { # name, dir, path: `get` goes on, right bytes, a line on stderr
  rm -f "$work/out"
  "${as[@]}" "$bin" get --dir "$2" "$origin$3" > "$work/out" 2> "$work/geterr"; local code=$?
  check "get, $1: exit 0 (was $code), right bytes" "$([ $code = 0 ] && [ "$(sha256sum < "$work/out" | cut -d' ' -f1)" = "$(curl -s "$origin/sha256$3")" ] && echo yes)"
  check "get, $1: stored, or more than the outcome on stderr" "$(grep -q ': miss, stored' "$work/geterr" || grep -v "^$origin" "$work/geterr" | grep -q . || grep -q 'not stored: ' "$work/geterr" && echo yes)"
  clean < "$work/geterr" | cut -c1-300 | sed 's/^/     get: /'
}

echo "== unwritable"
mkdir "$work/closed"; chmod 555 "$work/closed"
if [ "$(id -u)" = 0 ]; then as=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent); fi
if [ "$(id -u)" != 0 ] || command -v setpriv > /dev/null; then
  start "$work/closed/cache"
  check "serve, directory that cannot be made: starts" "$([ -n "$port" ] && echo yes)"
  [ -n "$port" ] && check "serve, directory that cannot be made: right bytes" "$(several closed 0 1000 300000 3000000 1000)"
  check "serve, directory that cannot be made: says so" "$(said)"; tell; stop
  get "directory that cannot be made" "$work/closed/cache" /size/1000/get
  # one that was written, and may now only be read
  save=("${as[@]}"); as=()
  start "$work/readonly"; several old 1000 300000 > /dev/null; stop
  chmod -R a-w,a+rX "$work/readonly"; as=("${save[@]}")
  start "$work/readonly"
  check "serve, filled directory that may only be read: starts" "$([ -n "$port" ] && echo yes)"
  [ -n "$port" ] && check "serve, filled directory that may only be read: right bytes" "$(several old 1000 300000; )" && \
    check "serve, filled directory that may only be read: right bytes of new ones" "$(several new 1000 300000 3000000)"
  check "serve, filled directory that may only be read: says so" "$(said)"; tell; stop
  get "filled directory that may only be read" "$work/readonly" /size/1000/get
  as=()
else echo "     unwritable: no setpriv, skipped"; fi
mkdir "$work/bound"
start "$work/plain"; several old 1000 300000 > /dev/null; stop
if mount --bind "$work/plain" "$work/bound" 2> /dev/null && mount -o remount,bind,ro "$work/bound" 2> /dev/null; then
  mounted=$work/bound
  before=$(cd "$work/plain" && find . -printf '%p %s %T@ %m\n' | sort | sha256sum)
  start "$work/bound"
  check "serve, read-only file system: starts" "$([ -n "$port" ] && echo yes)"
  [ -n "$port" ] && check "serve, read-only file system: right bytes" "$(several old 0 1000 300000 3000000)"
  check "serve, read-only file system: says so" "$(said)"; tell; stop
  get "read-only file system" "$work/bound" /size/1000/get
  check "read-only file system: untouched" "$([ "$(cd "$work/plain" && find . -printf '%p %s %T@ %m\n' | sort | sha256sum)" = "$before" ] && echo yes)"
  umount "$work/bound"; mounted=
else umount "$work/bound" 2> /dev/null; echo "     read-only file system: no leave to mount, skipped"; fi
echo plain > "$work/file"
start "$work/file"
check "serve, a file in the directory's place: starts" "$([ -n "$port" ] && echo yes)"
[ -n "$port" ] && check "serve, a file in the directory's place: right bytes" "$(several file 1000 300000)"
check "serve, a file in the directory's place: says so" "$(said)"; tell; stop
get "a file in the directory's place" "$work/file" /size/1000/get
check "the file is untouched" "$([ "$(cat "$work/file")" = plain ] && echo yes)"

echo "== full"
mkdir "$work/full"
if mount -t tmpfs -o size=4m,mode=755 tmpfs "$work/full" 2> /dev/null; then
  mounted=$work/full
  start "$work/full/cache" --disk 1G --min-free 0
  check "serve, full disk: starts" "$([ -n "$port" ] && echo yes)"
  check "serve, full disk: right bytes" "$(several full 1000 300000 3000000 3000000 2500000 900000 700000 20000 20001 20002 5000000 1000)"
  check "serve, full disk: says so" "$(said)"; tell; : > "$work/err"
  head -c 8000000 /dev/zero > "$work/full/zeros" 2> /dev/null
  check "serve, no byte left: right bytes" "$(several none 0 1000 300000 3000000)"
  tell; stop
  start "$work/full/cache" --disk 1G --min-free 0
  check "serve, no byte left: starts again" "$([ -n "$port" ] && echo yes)"
  [ -n "$port" ] && check "serve, no byte left, started again: right bytes" "$(several full 1000 300000 3000000 20000; )"
  tell; stop
  get "no byte left" "$work/full/cache" /size/300000/get
  get "no byte left, a new directory" "$work/full/other" /size/300000/get
  rm -f "$work/full/zeros"
  # If not even the log had room to remove rows, the body files were removed first.
  "$bin" verify --repair --dir "$work/full/cache" > /dev/null 2>&1
  "$bin" verify --dir "$work/full/cache" > "$work/verify" 2>&1; code=$?
  clean < "$work/verify" | tail -3 | sed 's/^/     verify: /'
  check "verify after the disk has room again, and a repair: clean" "$([ $code = 0 ] && echo yes)"
  umount "$work/full"; mounted=
else echo "     full: no leave to mount, skipped"; fi

echo "== vanished while running"
start "$work/gone"
several gone 1000 300000 3000000 > /dev/null; rm -rf "$work/gone"
check "serve, directory removed: right bytes of what was stored" "$(several gone 1000 300000 3000000)"
check "serve, directory removed: right bytes of new ones" "$(several later 0 1000 300000 3000000)"
check "serve, directory removed: right bytes again" "$(several later 0 1000 300000 3000000)"
check "serve, directory removed: says so" "$(said)"; tell 6
echo "     directory made again by serve: $([ -e "$work/gone" ] && ls "$work/gone" | tr '\n' ' ' || echo no)"
t0=$(date +%s%N); stop; echo "     SIGTERM: exit $code after $(( ($(date +%s%N)-t0)/1000000 )) ms"
start "$work/gone2"; several gone 1000 300000 3000000 > /dev/null; rm -rf "$work/gone2/"*
check "serve, directory emptied: right bytes" "$(several gone 1000 300000 3000000)"
check "serve, directory emptied: right bytes of new ones" "$(several later 0 1000 300000 3000000)"
check "serve, directory emptied: says so" "$(said)"; tell 6; stop
start "$work/gone2"
check "serve, directory emptied, started again: right bytes" "$(several gone 1000 300000 3000000)"; stop
"$bin" verify --dir "$work/gone2" > "$work/verify" 2>&1; code=$?
clean < "$work/verify" | tail -3 | sed 's/^/     verify: /'
check "verify after that: clean" "$([ $code = 0 ] && echo yes)"

echo "== cut while running"
for name in Cache.db Cache.db-wal; do
  start "$work/cut-$name"
  several cut 1000 20000 300000 3000000 > /dev/null
  truncate -s 5000 "$work/cut-$name/$name"
  check "serve, $name cut: right bytes" "$(several cut 1000 20000 300000 3000000)"
  check "serve, $name cut: right bytes of new ones" "$(several later 0 1000 20000 300000 3000000)"
  check "serve, $name cut: still there" "$(kill -0 $serve_pid 2> /dev/null && echo yes)"
  tell 6; stop
  start "$work/cut-$name"
  check "serve, $name cut, started again: right bytes" "$(several later 1000 300000)"; stop
  "$bin" verify --repair --dir "$work/cut-$name" > "$work/verify" 2>&1
  "$bin" verify --dir "$work/cut-$name" > "$work/verify" 2>&1; code=$?
  check "verify after repair: clean" "$([ $code = 0 ] && echo yes)"
done
start "$work/spoilt"
several spoilt 300000 3000000 > /dev/null; several spoilt 300000 3000000 > /dev/null
for file in $(find "$work/spoilt/bodies" -type f); do printf 'x' | dd of="$file" bs=1 seek=1000 conv=notrunc 2> /dev/null; done
for size in 300000 3000000; do
  # The first request after the damage may end early; it must not end with wrong bytes.
  curl -s -m 20 -H 'Host: baddirs.test' -o "$work/out" "http://127.0.0.1:$port/size/$size/spoilt"; code=$?
  check "serve, spoilt body of $size: right or cut off (curl says $code)" \
    "$([ $code != 0 ] || [ "$(sha256sum < "$work/out" | cut -d' ' -f1)" = "$(curl -s "$origin/sha256/size/$size/spoilt")" ] && echo yes)"
done
check "serve, spoilt bodies: right bytes afterwards" "$(several spoilt 300000 3000000)"
check "serve, spoilt bodies: says so" "$(said)"; tell 6; stop

echo "== newer format"
start "$work/newer"; several newer 1000 300000 > /dev/null; stop
python3 - "$work/newer" <<'P'
import os, sqlite3, sys
for d, _, fs in os.walk(sys.argv[1]):
    for f in fs:
        p = os.path.join(d, f)
        if open(p, "rb").read(15) == b"SQLite format 3":
            c = sqlite3.connect(p); v = c.execute("pragma user_version").fetchone()[0]
            c.execute("pragma user_version=%d" % (v + 1)); c.commit(); c.execute("pragma wal_checkpoint(truncate)"); c.close()
            print("     %s: user_version %d, now %d" % (os.path.relpath(p, sys.argv[1]), v, v + 1))
P
sums() { (cd "$work/newer" && find . -type f | sort | xargs sha256sum; find . -printf '%p %T@ %m\n' | sort); }
sums > "$work/before"
start "$work/newer"
check "serve, newer format: refuses" "$([ -z "$port" ] && echo yes)"
wait $serve_pid 2>/dev/null; code=$?; serve_pid=
check "serve, newer format: exit 9 (was $code)" "$([ $code = 9 ] && echo yes)"
tell
for c in "get $origin/size/1000/newer" "get -o $work/none --policy reload $origin/size/1000/newer" ls stats verify "verify --repair" "purge --all" "show $origin/size/1000/newer" "path $origin/size/1000/newer" "explain $origin/size/1000/newer"; do
  "$bin" $c --dir "$work/newer" > "$work/out" 2>&1; code=$?
  check "$(echo "$c" | clean), newer format: exit 9 (was $code)" "$([ $code = 9 ] && echo yes)"
  [ $code = 9 ] || clean < "$work/out" | tail -2 | cut -c1-200 | sed 's/^/     /'
done
sums > "$work/after"
check "newer format: untouched (SHA-256, names, times, modes)" "$(cmp -s "$work/before" "$work/after" && echo yes)"
diff "$work/before" "$work/after" | sed 's/^/     /' | head
echo "$passed passed, $failed failed"
[ $failed = 0 ]
