#!/usr/bin/env bash
# Prints the commit of this tree for `httpcache --version`, with -changed after it if files differ from the
# commit. Prints nothing outside of a clone, as in a tarball, even if it is unpacked inside another repository.
cd "$(dirname "$0")/.."
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ] || exit 0
git describe --always --abbrev=12 --exclude='*' --dirty=-changed
