#!/usr/bin/env bash
# Builds Tools for debugging, as the tests do: build-tools.sh [OPTIONS OF SWIFT BUILD]
cd "$(dirname "$0")/.."
source scripts/lib.sh
swift_build "${tools[@]}" "$@"
