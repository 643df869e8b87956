#!/usr/bin/env bash
# Checks the words of comments and Markdown: a sentence names its actor (process, caller, reader, writer, origin).
# Prints file:line of each *who*, *somebody* and the like, and of each comment that begins without its noun ("What …",
# "The same …", "Those of …").
cd "$(dirname "$0")/.."
source scripts/lib.sh

words() {
  command -v python3 >/dev/null 2>&1 || { echo "skipped: python3 is not there"; return 0; }
  scripts/prose.py
}

check prose words
