#!/usr/bin/env bash
# Runs the demo, which fails if an outcome is wrong.
# Usage: demo.sh [PATH OF httpcache]
cd "$(dirname "$0")/.."
source scripts/lib.sh

check demo "${1:-.build/debug/httpcache}" demo
