#!/usr/bin/env bash
# Ends connections to serve after each of their first bytes: resets.sh COUNT
cd "$(dirname "$0")/.."
source scripts/lib.sh
swift_build --build-tests "${tools[@]}"
# Three tests share the number.
HTTPCACHE_RESETS=$(($1 / 3)) swift test --skip-build "${tools[@]}" --filter '^HTTPCacheProxyTests\.ResetTests'
