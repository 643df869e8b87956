#!/usr/bin/env bash
# The Swift example of README.md is the program that Tools builds, line for line.
cd "$(dirname "$0")/.."
set -euo pipefail
mkdir -p .build
awk '/^```swift$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md >.build/readme-example.swift
if ! diff .build/readme-example.swift Tools/Sources/HTTPCacheExample/main.swift; then
  echo "README.md and Tools/Sources/HTTPCacheExample/main.swift differ"
  exit 1
fi
