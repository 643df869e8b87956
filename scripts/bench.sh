#!/usr/bin/env bash
# Benchmarks: Benchmarks/ is a package of its own, built with optimisation.
#
#   bench.sh         the tables of docs/performance.md: time and allocations
#   bench.sh disk [N,N]  the tables of stores on disk with so many entries (10000,100000,1000000)
#   bench.sh doors   the table of hits through each door, beside Foundation's own
#   bench.sh images  the tables of images: hits in memory, and thumbnails beside other programs
#   bench.sh redis   questions a second to a tier on Redis, beside redis-benchmark
#   bench.sh floor   builds nio-proxy, the floor of bench-serve.py
#   bench.sh count   instructions (valgrind) and allocations per decision or answer, one row a line; with a release
#                    build of the command, nginx and h2load, also per request to serve
#   bench.sh check   compares these with Benchmarks/thresholds.txt; more than 5 % above fails
cd "$(dirname "$0")/.."
source scripts/lib.sh

case ${1:-} in
  check | count)
    if ! command -v valgrind >/dev/null 2>&1; then
      echo "skipped: valgrind is not there"
      exit 0
    fi
    ;;
esac
export SWIFT_BACKTRACE=enable=no
# Otherwise the places in hash tables, and with them the counts, differ by several per cent from run to run.
export SWIFT_DETERMINISTIC_HASHING=1
mkdir -p .build/bench
log=.build/bench/build.log

# Builds a benchmark, and sets `program` to its path: built PRODUCT [OPTION ...]
built() {
  local build=(--package-path Benchmarks -c release -debug-info-format none "${@:2}")
  if ! swift build --disable-build-manifest-caching "${build[@]}" --product "$1" >"$log" 2>&1; then
    cat "$log"
    exit 1
  fi
  program=$(swift build "${build[@]}" --show-bin-path)/$1
}

case ${1:-} in
  redis)
    built redis-tier-benchmark --traits Redis
    exec scripts/bench-redis.py "$program"
    ;;
  doors)
    built door-benchmark --traits AsyncHTTPClient,Hummingbird
    exec "$program"
    ;;
  images)
    built image-benchmark --traits ImageCodecs
    exec python3 scripts/bench-images.py "$program"
    ;;
  floor)
    built nio-proxy --traits NIO
    exit
    ;;
esac
built cache-benchmarks --disable-default-traits

# Instructions of a row called so many times: instructions NAME CALLS
instructions() {
  valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null .build/bench/stripped --row "$1" "$2" \
    2>&1 | awk '/I +refs:/ { gsub(",", "", $NF); print $NF }'
}

# name|instructions|allocations, per operation; the difference of two runs leaves out the start of the program.
count() {
  # valgrind 3.19 stops at debugging information of version 5.
  strip --strip-debug -o .build/bench/stripped "$program"
  local name things allocations few many
  while IFS='|' read -r name things allocations; do
    few=$(instructions "$name" 5)
    many=$(instructions "$name" 25)
    echo "$name|$(((many - few) / (20 * things)))|$allocations"
  done < <("$program" --rows)
  count_serve
}

# The rows of serve. They need a release build, which takes too long to be made here.
count_serve() {
  local release=Tools/.build/release/httpcache missing="" needed
  [ -x "$release" ] || missing="$release (make build)"
  for needed in nginx h2load python3; do
    command -v "$needed" >/dev/null 2>&1 || missing="${missing:+$missing, }$needed"
  done
  if [ -n "$missing" ]; then
    echo "skipped: the rows of serve need $missing" >&2
    return
  fi
  scripts/bench-serve-counts.py "$release"
}

case ${1:-} in
  "") exec "$program" ;;
  disk) exec "$program" --disk "${2:-10000,100000,1000000}" ;;
  count) count ;;
  check)
    count >.build/bench/counts.txt
    failed=0
    awk -F'|' '
      NR == FNR { if ($0 !~ /^#/) { instructions[$1] = $2; allocations[$1] = $3 }; next }
      !($1 in instructions) { print $1 ": has no threshold"; bad = 1; next }
      { seen[$1] = 1
        if ($1 ~ /^serve:/) served = 1
        # The row of a peer, for comparison only.
        if ($1 ~ /^floor:/) { printf "ok %s: %d instructions\n", $1, $2; next }
        over = $2 > instructions[$1] * 1.05 || $3 > allocations[$1] * 1.05
        printf "%s %s: %d instructions (at most %d), %s allocations (at most %s)\n", \
          over ? "FAILED" : "ok", $1, $2, instructions[$1] * 1.05, $3, allocations[$1] * 1.05
        bad = bad || over }
      END {
        for (name in instructions) {
          if (name in seen || (!served && name ~ /^serve:/)) continue
          print name ": there is no such row"
          bad = 1
        }
        exit bad }' Benchmarks/thresholds.txt .build/bench/counts.txt >.build/bench/check.txt || failed=1
    cat .build/bench/check.txt
    note bench-check "$(grep -c '^ok ' .build/bench/check.txt || true)" \
      "$(grep -vc '^ok ' .build/bench/check.txt || true)"
    exit $failed
    ;;
  *)
    echo "usage: bench.sh [disk [N,N] | doors | images | count | check]"
    exit 2
    ;;
esac
