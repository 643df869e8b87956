#!/bin/bash
# The Debian package in a root folder that has Debian's base system and nothing else: installed with its dependencies by
# apt, then run in it, then removed.
#   bareroot.sh DEB [ROOT]
# Needs root and debootstrap, which makes the folder from this machine's mirror of Debian; ROOT is such a folder, copied.
set -u
deb=$(realpath "$1"); base=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d); root=$work/root; passed=0; failed=0; origin_pid=
finish() { kill $origin_pid 2>/dev/null; umount "$root/proc" "$root/dev" 2>/dev/null; rm -rf --one-file-system "$work"; }
trap finish EXIT
check() { if [ "$2" = yes ]; then passed=$((passed+1)); echo "ok   $1"; else failed=$((failed+1)); echo "FAIL $1"; fi; }
inside() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }

if [ -n "$base" ]; then
  cp -a "$base" "$root"
else
  . /etc/os-release
  mirror=$(sed -n 's/^URIs: //p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -1)
  debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" > "$work/log" 2>&1 || { tail -3 "$work/log"; exit 1; }
fi
mkdir -p "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$deb" "$root/httpcache.deb"
python3 "$here/origin.py" > "$work/port" & origin_pid=$!
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.05; done
origin=http://127.0.0.1:$(cat "$work/port")

inside sh -c 'command -v swift || find / -xdev -name "libswift*" | grep .' > "$work/out"
check "the folder has no Swift" "$([ -s "$work/out" ] || echo yes)"
inside sh -c 'apt-get update && apt-get install -y --no-install-recommends /httpcache.deb' > "$work/log" 2>&1
check "apt installs it: $(grep -E 'newly installed' "$work/log")" "$(inside dpkg -s httpcache 2>/dev/null | grep -q '^Status: install ok installed' && echo yes)"
version=$(inside httpcache --version 2>&1); check "httpcache --version: $version" "$([ -n "$version" ] && echo yes)"
inside httpcache demo > "$work/out" 2>&1; code=$?
check "httpcache demo: $(tail -1 "$work/out")" "$([ $code = 0 ] && echo yes)"
want=$(curl -s "$origin/sha256/size/3000000/bare")
for round in miss hit; do
  inside httpcache get -o /body "$origin/size/3000000/bare" 2> "$work/err"
  check "get, $round: $(sed "s#$origin##" "$work/err")" "$(grep -q "$round" "$work/err" && [ "$(sha256sum < "$root/body" | cut -d' ' -f1)" = "$want" ] && echo yes)"
done
for file in share/man/man1/httpcache.1.gz share/bash-completion/completions/httpcache share/zsh/vendor-completions/_httpcache share/fish/vendor_completions.d/httpcache.fish lib/systemd/system/httpcache.service; do
  check "/usr/$file" "$([ -s "$root/usr/$file" ] && echo yes)"
done
inside apt-get purge -y httpcache > "$work/log" 2>&1
left=$(inside find / -xdev -name '*httpcache*' -not -path '/root/*' -not -path /httpcache.deb)
check "apt purge leaves nothing of it${left:+: }$left" "$([ -z "$left" ] && echo yes)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
