#!/usr/bin/env bash
# Fresh hits of this package beside those of other caches, in one run: microseconds of one hit with its
# whole body read, from a warm cache, one caller, median of three interleaved sessions.
#
#   peers.sh [SESSIONS]
#
# Peers: OkHttp and go httpcache (Debian's packages), hishel, requests-cache and CacheControl (PyPI, in a
# virtual environment). A peer that cannot be installed is left out, with a message. The origin counts requests: a peer
# that sends more requests than it stored responses is reported.
cd "$(dirname "$0")/.."
set -euo pipefail

sessions=${1:-3}
work=.build/peers
mkdir -p "$work/classes"
folder=$(mktemp -d)
origin_process=
trap '[ -z "$origin_process" ] || kill "$origin_process" 2>/dev/null; rm -rf "$folder"' EXIT

left_out() { echo "left out: $*" >&2; }

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
install() { # PACKAGES...
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  "${as_root[@]}" apt-get update -q >>"$work/install.log" 2>&1 || true
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}" \
    >>"$work/install.log" 2>&1
}

peers=()
program=$(swift build --package-path Benchmarks -c release --show-bin-path)/cache-peer
swift build --disable-build-manifest-caching --package-path Benchmarks -c release --product cache-peer \
  >"$work/build.log" 2>&1 ||
  { cat "$work/build.log"; exit 1; }
peers+=(ours)

if install golang-go golang-github-gregjones-httpcache-dev; then
  GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE="$PWD/$work/go" \
    go build -o "$work/peer-go" Benchmarks/Peers/peer.go && peers+=(go-memory go-disk)
else
  left_out "go httpcache: no package golang-github-gregjones-httpcache-dev"
fi

jars=/usr/share/java/okhttp.jar:/usr/share/java/okio.jar
java_packages=(libokhttp-java libokio-java)
command -v javac >/dev/null || java_packages+=(default-jdk-headless)
if install "${java_packages[@]}"; then
  javac -cp "$jars" -d "$work/classes" Benchmarks/Peers/Peer.java && peers+=(okhttp)
else
  left_out "OkHttp: no package libokhttp-java"
fi

python=$work/python/bin/python
if [ ! -x "$python" ]; then python3 -m venv "$work/python" || install python3-venv && python3 -m venv "$work/python"; fi
for package in hishel requests-cache CacheControl; do
  extra=$package
  [ "$package" = CacheControl ] && extra="CacheControl[filecache]"
  [ "$package" = hishel ] && extra="hishel[httpx]"
  if "$python" -m pip install -q "$extra" >>"$work/install.log" 2>&1; then
    peers+=("$package")
  else
    left_out "$package: not to be had from PyPI"
  fi
done

python3 Trials/origin.py >"$folder/port" &
origin_process=$!
for _ in $(seq 100); do [ -s "$folder/port" ] && break; sleep 0.1; done
origin=http://127.0.0.1:$(cat "$folder/port")

run() { # PEER FOLDER: name|store|1 KiB|1 MiB
  case $1 in
    ours) "$program" "$origin" "$2" ;;
    go-*) echo "go httpcache|$("$work/peer-go" "${1#go-}" "$origin" "$2")" ;;
    okhttp) echo "OkHttp|$(java -cp "$work/classes:$jars" Peer "$origin" "$2")" ;;
    *) echo "$1|$("$python" Benchmarks/Peers/peers.py "$1" "$origin" "$2")" ;;
  esac
}

: >"$work/lines"
for session in $(seq "$sessions"); do
  for peer in "${peers[@]}"; do
    mkdir -p "$folder/$session/$peer"
    before=$(curl -s "$origin/count")
    if run "$peer" "$folder/$session/$peer" >"$folder/out" 2>"$folder/error"; then
      # Two bodies for each line: one of each size.
      asked=$(($(curl -s "$origin/count") - before))
      stored=$((2 * $(wc -l <"$folder/out")))
      [ "$peer" = ours ] && stored=4
      [ "$asked" -le "$stored" ] || echo "$peer asked the origin $asked times" >&2
      cat "$folder/out" >>"$work/lines"
    else
      left_out "$peer failed: $(tail -1 "$folder/error")"
    fi
  done
done

versions() {
  "$python" -m pip list 2>/dev/null | awk '/^(hishel|requests-cache|cachecontrol|CacheControl) / { print tolower($1) "|" $2 }'
  dpkg-query -W -f='${Package}|${Version}\n' libokhttp-java golang-github-gregjones-httpcache-dev 2>/dev/null |
    sed 's/^libokhttp-java|/okhttp|/; s/^golang-[^|]*|/go httpcache|/'
}
versions >"$work/versions"

echo "| cache | store | 1 KiB, µs | 1 MiB, µs |"
echo "|---|---|---:|---:|"
awk -F'|' '
  function median(list,   values, count, i, j, swap) {
    count = split(list, values, " ")
    for (i = 1; i <= count; i++) for (j = i + 1; j <= count; j++)
      if (values[j] + 0 < values[i] + 0) { swap = values[i]; values[i] = values[j]; values[j] = swap }
    return values[int((count + 1) / 2)]
  }
  NR == FNR { version[$1] = " " $2; next }
  { row = $1 "|" $2
    if (!(row in small)) order[++rows] = row
    small[row] = small[row] " " $3; large[row] = large[row] " " $4 }
  END { for (i = 1; i <= rows; i++) { split(order[i], part, "|")
    printf "| %s%s | %s | %s | %s |\n", part[1], version[tolower(part[1])], part[2], median(small[order[i]]), median(large[order[i]]) } }
' "$work/versions" "$work/lines"
