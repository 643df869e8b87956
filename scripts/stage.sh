#!/usr/bin/env bash
# Collects in Tools/.build/install the files that `make install` copies, by their paths below PREFIX. `make build` runs
# this, so that `sudo make install` needs no Swift: stage.sh PATH-OF-httpcache PATH-OF-generate-manual
cd "$(dirname "$0")/.."
set -euo pipefail
program=$1
manual=$2

staged=Tools/.build/install
rm -rf "$staged"
mkdir -p "$staged"/{bin,lib/systemd/system,share/man/man1} \
  "$staged"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}

if command -v strip >/dev/null 2>&1; then
  strip -o "$staged/bin/httpcache" "$program"
else
  cp "$program" "$staged/bin/httpcache"
fi
"$manual" "$program" --output-directory "$staged/share/man/man1"
complete() { "$program" --generate-completion-script "$1"; }
# Sourced, never run.
complete bash | sed "1{/^#!/d}" >"$staged/share/bash-completion/completions/httpcache"
complete zsh >"$staged/share/zsh/site-functions/_httpcache"
complete fish >"$staged/share/fish/vendor_completions.d/httpcache.fish"
cp packaging/httpcache.service "$staged/lib/systemd/system/"
