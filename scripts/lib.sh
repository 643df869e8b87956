# Shared by the scripts here; source it from the root of the package.
set -euo pipefail

results=.build/results
mkdir -p "$results"

# One folder for the debug builds of the root package and of Tools, so that their common dependencies, above all
# BoringSSL, are compiled once.
scratch=$PWD/.build
# One compiler for a module, instead of one for each processor that reads all of the module again: 38 % less
# processor time for HTTPCacheStore and what it needs. No optimisation, in spite of the name. The index of the source,
# 5 % of the time, stays: SwiftPM looks for tests in it.
whole=(-Xswiftc -whole-module-optimization -Xswiftc -disable-batch-mode -Xswiftc -num-threads -Xswiftc 2)
# The trait for the codecs of the system brings no package, and without it their tests are empty.
root=(--traits Crypto,ImageCodecs --scratch-path "$scratch" "${whole[@]}")
tools=(--package-path Tools --scratch-path "$scratch" "${whole[@]}")
untraited=(--disable-default-traits --scratch-path "$scratch/no-traits" "${whole[@]}")

# The Swift of the documentation is compiled with Tools.
if command -v python3 >/dev/null 2>&1; then export HTTPCACHE_SNIPPETS=1; fi

# Builds. SwiftPM passes the traits of a package to the compiler in the order of a Set, which differs at each call:
# without a fixed order each call would compile the modules of this library again. Without the option, SwiftPM takes the
# plan of the last build in the folder, which may be that of the other package, and builds nothing.
swift_build() {
  [ -z "${HTTPCACHE_SNIPPETS:-}" ] || scripts/snippets.py
  SWIFT_DETERMINISTIC_HASHING=1 swift build --disable-build-manifest-caching "$@"
}

section() { printf '\n== %s\n' "$*"; }

# A port for a server that is started later.
free_port() { python3 Trials/servers.py 2>/dev/null || echo $((10000 + RANDOM % 22768)); }

# Sets `used` to the processor seconds, user and system, of all commands that this shell has waited for.
measure() {
  # Do not call this in a subshell: it has not waited for these commands.
  times >"$results/times"
  used=$(awk 'NR == 2 { gsub(/[ms]/, " "); printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }' "$results/times")
}

# Runs a command and prints the processor time that it took: timed NAME COMMAND...
timed() {
  local name=$1 before status=0
  shift
  measure
  before=$used
  "$@" || status=$?
  measure
  echo "processor time of $name: $((used - before)) s"
  return $status
}

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

# Repeats what failed in the logs of the tests, beside the sum: the output of a target may be far above.
failed_tests() {
  local log
  for log in "$results"/*Tests.log; do
    grep -aqsE '^✘ Test .* failed after' "$log" || continue
    echo "in $(basename "$log" .log):"
    grep -aE '^✘|error:' "$log" | cut -c1-600 | tail -n 30
  done
}

# Adds up the noted checks; the last line of a whole run.
total() {
  cat "$results"/*.count 2>/dev/null | awk '
    { passed += $1; failed += $2 }
    END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || passed == 0 }'
}
