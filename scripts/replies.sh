#!/usr/bin/env bash
# Reads generated replies of a Redis server at every split, 10⁹ bytes by default: replies.sh [BYTES [FIRST SEED]]
cd "$(dirname "$0")/.."
set -euo pipefail

scripts/link-fuzzing.sh replies .build/hostile
SWIFT_BACKTRACE=enable=no .build/hostile/replies "$@"
