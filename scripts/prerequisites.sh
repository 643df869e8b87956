#!/usr/bin/env bash
# Checks that the system has the packages that the build needs; installs missing ones on Debian and Ubuntu.
#
#   prerequisites.sh            the packages that the build needs
#   prerequisites.sh PACKAGE... also packages that a check needs; without them the check is skipped
set -euo pipefail

if ! command -v swift >/dev/null 2>&1; then
  echo "Swift 6.2 or later is needed: https://www.swift.org/install/" >&2
  exit 1
fi

[ "$(uname -s)" = Linux ] || exit 0

packages=(libsqlite3-dev zlib1g-dev libbrotli-dev libzstd-dev libturbojpeg0-dev libspng-dev libwebp-dev libgif-dev
  libheif-dev pkg-config ca-certificates)
wanted=("$@")
if ! command -v dpkg-query >/dev/null 2>&1; then
  if [ -e /usr/include/sqlite3.h ] && [ -e /usr/include/zlib.h ]; then exit 0; fi
  echo "Please install the development files of SQLite and zlib, pkg-config and the certificates of" >&2
  echo "the authorities; on Debian these are: ${packages[*]}" >&2
  exit 1
fi

missing=()
isInstalled() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }
for package in "${packages[@]}"; do isInstalled "$package" || missing+=("$package"); done
optional=()
for package in ${wanted[@]+"${wanted[@]}"}; do isInstalled "$package" || optional+=("$package"); done
[ $((${#missing[@]} + ${#optional[@]})) -gt 0 ] || exit 0

echo "installing ${missing[*]} ${optional[*]}"
as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    if [ ${#missing[@]} = 0 ]; then
      echo "Please install as root: apt-get install ${optional[*]}" >&2
      exit 0
    fi
    echo "Please install as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
status=0
"${as_root[@]}" apt-get update -q || status=$?
if [ ${#missing[@]} -gt 0 ]; then
  [ $status = 0 ] || exit $status
  "${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
fi
if [ ${#optional[@]} -gt 0 ]; then
  "${as_root[@]}" apt-get install -q -y --no-install-recommends "${optional[@]}" ||
    echo "could not install ${optional[*]}" >&2
fi
