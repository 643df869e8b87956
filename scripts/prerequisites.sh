#!/usr/bin/env bash
# Makes sure that what the build needs from the system is there; installs it on Debian and Ubuntu.
set -euo pipefail

if ! command -v swift >/dev/null 2>&1; then
  echo "Swift 6.2 or later is needed: https://www.swift.org/install/" >&2
  exit 1
fi

[ "$(uname -s)" = Linux ] || exit 0

packages=(libsqlite3-dev zlib1g-dev pkg-config ca-certificates)
if ! command -v dpkg-query >/dev/null 2>&1; then
  if [ -e /usr/include/sqlite3.h ] && [ -e /usr/include/zlib.h ]; then exit 0; fi
  echo "Please install the development files of SQLite and zlib, pkg-config and the certificates of" >&2
  echo "the authorities; on Debian these are: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing ${missing[*]}"
as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "Please install as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
