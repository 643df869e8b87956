#!/usr/bin/env bash
# Runs the demo, which fails if the cache does not do what it must.
# Usage: demo.sh [PATH OF httpcache]
cd "$(dirname "$0")/.."
source scripts/lib.sh

check demo "${1:-.build/debug/httpcache}" demo
