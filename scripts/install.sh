#!/usr/bin/env bash
# Copies what `make build` made below $DESTDIR$PREFIX; with --remove it deletes those files instead.
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

# Each file with its mode, by its path below the prefix. Manual pages: one for each subcommand.
program=bin/httpcache
unit=lib/systemd/system/httpcache.service
manuals='share/man/man1/httpcache*.1'
completions=(share/bash-completion/completions/httpcache share/zsh/site-functions/_httpcache
  share/fish/vendor_completions.d/httpcache.fish)

if [ "${1:-}" = --remove ]; then
  # shellcheck disable=SC2086 # a pattern
  (cd "$to" && rm -fv "$program" "$unit" "${completions[@]}" $manuals)
  exit
fi

[ -x "$staged/$program" ] || { echo "nothing is built: run make build first" >&2; exit 1; }
# Modes are given here, so that no umask hides the files from other users.
install -d "$to"
while read -r folder; do install -d -m 755 "$to/$folder"; done < <(cd "$staged" && find . -mindepth 1 -type d)
install -m 755 "$staged/$program" "$to/$program"
for file in "${completions[@]}" $(cd "$staged" && echo $manuals); do
  install -m 644 "$staged/$file" "$to/$file"
done
sed "/@PREFIX@ is replaced/d; s|@PREFIX@|$prefix|" "$staged/$unit" >"$to/$unit"
chmod 644 "$to/$unit"
echo "installed httpcache $("$to/$program" --version) in $to"
