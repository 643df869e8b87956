#!/usr/bin/env bash
# Makes the documentation of each module with DocC, from the debug build of the tests. Fails on a broken link.
# Usage: docs.sh [FOLDER FOR THE RESULT, .build/docs]
cd "$(dirname "$0")/.."
set -euo pipefail

output=${1:-.build/docs}
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
if [ ! -x "$tools/docc" ]; then
  echo "skipped: docc is not part of this Swift"
  exit 0
fi
target=$(swiftc -print-target-info | sed -n 's/.*"triple": "\([^"]*\)".*/\1/p' | head -n 1)
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
mkdir -p "$output"

build=.build/debug
failed=0
archives=()
for catalog in Sources/*/*.docc; do
  module=$(basename "$(dirname "$catalog")")
  if [ ! -e "$build/Modules/$module.swiftmodule" ]; then
    echo "FAILED: $module is not built in $build"
    failed=1
    continue
  fi
  mkdir -p "$graphs/$module"
  maps=()
  # Only the maps of C modules: each Swift module has one too, for Objective-C, and some exist twice.
  while read -r map; do maps+=(-Xcc "-fmodule-map-file=$map"); done < <(
    find "$PWD/Sources" -name module.modulemap -not -path '*.docc*'
    find "$build/" -maxdepth 2 -path '*.build/module.modulemap' -not -path '*-tool.build/*'
    find "${build%/debug}/checkouts" -path '*/include/*' -name module.modulemap 2>/dev/null)
  "$tools/swift-symbolgraph-extract" -module-name "$module" -target "$target" -I "$build/Modules" \
    "${maps[@]}" -minimum-access-level public -skip-inherited-docs \
    -output-dir "$graphs/$module" 2>"$graphs/$module.log" || {
    tail -n 20 "$graphs/$module.log"
    echo "FAILED: $module: no symbols"
    failed=1
    continue
  }
  if "$tools/docc" convert "$catalog" --additional-symbol-graph-dir "$graphs/$module" \
    --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
    --output-path "$output/$module.doccarchive" --warnings-as-errors >"$graphs/$module.log" 2>&1; then
    archives+=("$output/$module.doccarchive")
    echo "ok: $module"
  else
    grep -E '(error|warning):|-->' "$graphs/$module.log" | head -n 40
    echo "FAILED: $module"
    failed=1
  fi
done
[ $failed = 0 ] || exit 1
rm -rf "$output/swift-http-cache.doccarchive"
"$tools/docc" merge "${archives[@]}" --synthesized-landing-page-name swift-http-cache \
  --output-path "$output/swift-http-cache.doccarchive"
echo "made $output/swift-http-cache.doccarchive"
