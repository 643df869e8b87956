#!/usr/bin/env bash
# Runs a command while LOAD (3) other programs keep a processor busy each; without a command, runs all tests.
# Usage: [LOAD=N] loaded.sh [COMMAND...]
cd "$(dirname "$0")/.."
source scripts/lib.sh

export TEST_LIMIT=${TEST_LIMIT:-1800}
if [ $# = 0 ]; then
  # Build first, because a build proves nothing under load.
  swift_build --build-tests "${root[@]}"
  swift_build --build-tests "${tools[@]}"
  set -- scripts/test.sh
fi
loops=()
trap 'kill "${loops[@]}" 2>/dev/null || true' EXIT
for _ in $(seq "${LOAD:-3}"); do
  # A loop ends with this script, also if the script is killed.
  (while kill -0 $$; do :; done) 2>/dev/null &
  loops+=($!)
done
"$@"
