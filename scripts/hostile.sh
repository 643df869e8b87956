#!/usr/bin/env bash
# Checks generated header sets, a million by default: hostile.sh [COUNT [FIRST SEED]]
cd "$(dirname "$0")/.."
set -euo pipefail

scripts/link-fuzzing.sh hostile .build/hostile
SWIFT_BACKTRACE=enable=no .build/hostile/hostile "$@"
