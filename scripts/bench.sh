#!/usr/bin/env bash
# Benchmarks: Benchmarks/ is a package of its own, built with optimisation.
#
#   bench.sh         the tables of docs/performance.md: time and allocations
#   bench.sh disk [N,N]  the tables of stores on disk with so many entries (10000,100000,1000000)
#   bench.sh count   instructions (valgrind) and allocations per decision or answer, one row a line
#   bench.sh check   compares these with Benchmarks/thresholds.txt; more than 5 % above fails
cd "$(dirname "$0")/.."
set -euo pipefail

export SWIFT_BACKTRACE=enable=no
mkdir -p .build/bench
log=.build/bench/build.log
if ! swift build --package-path Benchmarks -c release --product cache-benchmarks >"$log" 2>&1; then
  cat "$log"
  exit 1
fi
program=$(swift build --package-path Benchmarks -c release --show-bin-path)/cache-benchmarks

# Instructions of a row called so many times: instructions NAME CALLS
instructions() {
  valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null .build/bench/stripped --row "$1" "$2" \
    2>&1 | awk '/I +refs:/ { gsub(",", "", $NF); print $NF }'
}

# name|instructions|allocations, per thing; what is the same in both runs is the start of the program.
count() {
  command -v valgrind >/dev/null || { echo "valgrind is needed" >&2; exit 1; }
  # valgrind 3.19 stops at debugging information of version 5.
  strip --strip-debug -o .build/bench/stripped "$program"
  local name things allocations few many
  while IFS='|' read -r name things allocations; do
    few=$(instructions "$name" 5)
    many=$(instructions "$name" 25)
    echo "$name|$(((many - few) / (20 * things)))|$allocations"
  done < <("$program" --rows)
}

case ${1:-} in
  "") exec "$program" ;;
  disk) exec "$program" --disk "${2:-10000,100000,1000000}" ;;
  count) count ;;
  check)
    count >.build/bench/counts.txt
    awk -F'|' '
      NR == FNR { if ($0 !~ /^#/) { instructions[$1] = $2; allocations[$1] = $3 }; next }
      !($1 in instructions) { print $1 ": has no threshold"; bad = 1; next }
      { seen[$1] = 1
        over = $2 > instructions[$1] * 1.05 || $3 > allocations[$1] * 1.05
        printf "%s %s: %d instructions (at most %d), %s allocations (at most %s)\n", \
          over ? "FAILED" : "ok", $1, $2, instructions[$1] * 1.05, $3, allocations[$1] * 1.05
        bad = bad || over }
      END {
        for (name in instructions) if (!(name in seen)) { print name ": there is no such row"; bad = 1 }
        exit bad }' Benchmarks/thresholds.txt .build/bench/counts.txt
    ;;
  *)
    echo "usage: bench.sh [disk [N,N] | count | check]"
    exit 2
    ;;
esac
