#!/usr/bin/env bash
# Attacks the debug build of serve for a minute.
cd "$(dirname "$0")/.."
source scripts/lib.sh
command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; exit 0; }
check attack Trials/attack.py .build/debug/httpcache 60 512 --no-times
