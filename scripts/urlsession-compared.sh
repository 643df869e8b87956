#!/usr/bin/env bash
# Writes docs/urlsession-compared.md: the same program against Foundation alone and against ours.
# With --check, tells whether what is written still holds.
cd "$(dirname "$0")/.."
set -euo pipefail

if [ "${1:-}" != --check ]; then export URLSESSION_COMPARED=write; fi
exec swift test --filter HTTPCacheURLSessionTests.ComparisonTests
