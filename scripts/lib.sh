# Shared by the scripts here; source it from the root of the package.
set -euo pipefail

results=.build/results
mkdir -p "$results"

section() { printf '\n== %s\n' "$*"; }

# Notes a check under a name: note NAME PASSED FAILED
note() { printf '%s %s\n' "$2" "$3" >"$results/$1.count"; }

# Runs a check and notes it as one that passed or failed: check NAME COMMAND...
check() {
  local name=$1
  shift
  if "$@"; then
    note "$name" 1 0
    echo "ok: $name"
  else
    note "$name" 0 1
    echo "FAILED: $name"
    return 1
  fi
}

# Adds up what was noted; the last line of a whole run.
total() {
  cat "$results"/*.count 2>/dev/null | awk '
    { passed += $1; failed += $2 }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }'
}
