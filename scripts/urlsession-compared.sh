#!/usr/bin/env bash
# Writes docs/urlsession-compared.md: one program with Foundation alone and with this package.
# With --check, fails if the document is not up to date.
cd "$(dirname "$0")/.."
set -euo pipefail

if [ "${1:-}" != --check ]; then export URLSESSION_COMPARED=write; fi
exec swift test --filter HTTPCacheURLSessionTests.ComparisonTests
