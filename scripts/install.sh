#!/usr/bin/env bash
# Copies the files of `make build` below $DESTDIR$PREFIX; with --remove, deletes these files there.
cd "$(dirname "$0")/.."
set -euo pipefail

staged=Tools/.build/install
prefix=${PREFIX:-/usr/local}
# Not every shell expands the tilde of `make install PREFIX=~/.local`.
case $prefix in "~/"*) prefix=$HOME/${prefix#"~/"} ;; esac
prefix=${prefix%/}
case $prefix in
  /* | "") ;;
  *) echo "PREFIX must be an absolute path (got $prefix)" >&2; exit 64 ;;
esac
to=${DESTDIR:-}$prefix

program=bin/httpcache
unit=lib/systemd/system/httpcache.service
data=(share/man/man1/httpcache.1 share/bash-completion/completions/httpcache
  share/zsh/site-functions/_httpcache share/fish/vendor_completions.d/httpcache.fish)

if [ "${1:-}" = --remove ]; then
  (cd "$to" && rm -fv "$program" "$unit" "${data[@]}")
  exit
fi

[ -x "$staged/$program" ] || { echo "nothing is built: run make build first" >&2; exit 1; }
# New folders are for all users, whatever the umask; those that exist stay as they are.
umask 022
for file in "$program" "$unit" "${data[@]}"; do mkdir -p "$to/$(dirname "$file")"; done
install -m 755 "$staged/$program" "$to/$program"
for file in "${data[@]}"; do install -m 644 "$staged/$file" "$to/$file"; done
sed "/@PREFIX@ is replaced/d; s|@PREFIX@|$prefix|" "$staged/$unit" >"$to/$unit"
chmod 644 "$to/$unit"
echo "installed httpcache $("$to/$program" --version) in $to"
