#!/usr/bin/env bash
# Every test has a time limit: each @Suite has the trait .timeLimit, and each @Test is in a suite.
#
#   time-limits.sh          lists the suites without a limit
#   time-limits.sh --fix    adds a limit of LIMIT minutes, and formats the changed files
#
# The limit is far above the time of a test, because many tests run in parallel on busy machines.
# Swift Testing reports a test that exceeds its limit, and cancels its task. scripts/test.sh reports a test that does
# not end then either.
cd "$(dirname "$0")/.."
set -euo pipefail

LIMIT=10
folders=(Tests Tools/Tests)
trait=".timeLimit(.minutes($LIMIT))"

# The suites without the trait: an attribute extends to its type declaration.
without() {
  find "${folders[@]}" -name '*.swift' -print0 | sort -z | xargs -0 awk '
    FNR == 1 { open = 0 }
    /^ *@Suite/ { open = 1; text = ""; line = FNR }
    open {
      text = text $0
      if ($0 ~ /(^|[ )])(struct|class|actor|enum) /) {
        if (text !~ /\.timeLimit\(/) print FILENAME ":" line
        open = 0
      }
    }
    /^@Test/ { print FILENAME ":" FNR ": a test outside of any suite" }'
  # An extension of a suite has the limits of the suite.
  local file
  while read -r file; do
    grep -qE '@Suite|^extension ' "$file" || echo "$file: tests without @Suite"
  done < <(grep -rlE '^ *@Test' --include='*.swift' "${folders[@]}")
}

if [ "${1:-}" = --fix ]; then
  mapfile -t files < <(without | cut -d: -f1 | sort -u)
  [ ${#files[@]} -gt 0 ] || exit 0
  sed -i -E '/^ *@Suite/ { /\.timeLimit\(/! {
    s/@Suite *$/@Suite('"$trait"')/
    s/@Suite( +(struct|final class|class|actor|enum))/@Suite('"$trait"')\1/
    s/@Suite\(("([^"\\]|\\.)*")([,)])/@Suite(\1, '"$trait"'\3/
    s/@Suite\(\.([a-su-z]|t[a-hj-z])/@Suite('"$trait"', .\1/
  } }' "${files[@]}"
  swift format --in-place "${files[@]}"
fi
missing=$(without)
[ -z "$missing" ] || { echo "without a time limit (scripts/time-limits.sh --fix):"; echo "$missing"; exit 1; }
