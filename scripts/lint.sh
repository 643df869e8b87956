#!/usr/bin/env bash
# Checks the format with the committed .swift-format, and the words of comments; with --fix, formats.
cd "$(dirname "$0")/.."
source scripts/lib.sh

paths=(Package.swift Sources Tests Tools/Package.swift Tools/Sources Tools/Tests Tools/Examples Fuzzing Benchmarks/Package.swift
  Benchmarks/Sources Torture Simulation)
if [ "${1:-}" = --fix ]; then
  exec swift format --in-place --recursive "${paths[@]}"
fi
failed=0
check lint swift format lint --strict --recursive "${paths[@]}" || failed=1
scripts/prose.sh || failed=1
exit $failed
