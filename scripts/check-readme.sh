#!/usr/bin/env bash
# Each Swift program of README.md is a file of an example that Tools builds, line for line.
cd "$(dirname "$0")/.."
set -euo pipefail
blocks=.build/readme
rm -rf "$blocks"
mkdir -p "$blocks"
awk -v blocks="$blocks" '
  /^```swift$/ { number++; inside = 1; next }
  /^```$/ { inside = 0 }
  inside { print >(blocks "/" number ".swift") }' README.md
[ -e "$blocks/1.swift" ] || { echo "README.md has no Swift"; exit 1; }

bad=0
for block in "$blocks"/*.swift; do
  same=
  for file in Tools/Sources/*Example/*.swift Tools/Examples/*/*.swift; do
    if cmp -s "$block" "$file"; then same=$file; fi
  done
  if [ -z "$same" ]; then
    echo "in README.md, but no file of an example:"
    cat "$block"
    bad=1
  fi
done
exit $bad
