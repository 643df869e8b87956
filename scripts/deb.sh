#!/usr/bin/env bash
# Makes .build/httpcache_VERSION_ARCHITECTURE.deb from the files of `make build`. MAINTAINER='Name <address>' names the
# maintainer of the package.
cd "$(dirname "$0")/.."
set -euo pipefail

for tool in dpkg-deb dpkg-shlibdeps; do
  command -v $tool >/dev/null 2>&1 || { echo "$tool is needed (Debian: dpkg-dev)" >&2; exit 1; }
done
work=$PWD/.build/deb
root=$work/root
rm -rf "$work"
mkdir -p "$root/DEBIAN" "$work/debian"
umask 022

DESTDIR=$root PREFIX=/usr scripts/install.sh
# The paths of Debian's policy.
mkdir -p "$root/usr/share/zsh"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
gzip -9n "$root"/usr/share/man/man1/*.1
install -D -m 644 packaging/debian/httpcache.default "$root/etc/default/httpcache"
echo /etc/default/httpcache >"$root/DEBIAN/conffiles"

# A commit without the tag of its version sorts before that version.
version=$(sed -n 's/.*current = "\(.*\)"/\1/p' Tools/Sources/HTTPCacheCommand/Support/CommandVersion.swift)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y CHANGELOG.md)}
if [ -n "$(scripts/commit.sh)" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
  if ! git describe --exact-match --match "*$version" >/dev/null 2>&1; then
    version="$version~git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M%S).$(git rev-parse --short=7 HEAD)"
  fi
fi
maintainer=${MAINTAINER:-$(git log -1 --format='%an <%ae>' 2>/dev/null || echo 'unknown <root@localhost>')}

share=$root/usr/share/doc/httpcache
mkdir -p "$share"
{
  printf 'httpcache is part of swift-http-cache, under the Apache License 2.0:\n'
  printf '/usr/share/common-licenses/Apache-2.0\n\n'
  printf "Inside are Swift's runtime and Foundation (Apache License 2.0 with the Runtime Library\n"
  printf 'Exception, https://swift.org/LICENSE.txt) and the packages below, with their notices.\n'
  for folder in Tools/.build/checkouts/*/; do
    for file in "$folder"LICENSE* "$folder"NOTICE*; do
      [ -e "$file" ] || continue
      printf '\n==== %s, %s\n\n' "$(basename "$folder")" "$(basename "$file")"
      if grep -q 'Version 2.0, January 2004' "$file"; then
        printf 'Apache License 2.0: /usr/share/common-licenses/Apache-2.0\n'
        # Text after the licence, such as an exception.
        sed '1,/limitations under the License\./d' "$file"
      else
        cat "$file"
      fi
    done
  done
} >"$share/copyright"
printf 'httpcache (%s) unstable; urgency=medium\n\n  * CHANGELOG.md of swift-http-cache.\n\n -- %s  %s\n' \
  "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$share/changelog.gz"

# dpkg-shlibdeps needs a source package.
printf 'Source: httpcache\n\nPackage: httpcache\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O -e root/usr/bin/httpcache | sed -n 's/^shlibs:Depends=//p')
install -m 755 packaging/debian/{postinst,prerm,postrm} "$root/DEBIAN/"
architecture=$(dpkg --print-architecture)
size=$(du -k -s --apparent-size --exclude=DEBIAN "$root" | cut -f1)
sed "s|@VERSION@|$version|; s|@ARCHITECTURE@|$architecture|; s|@MAINTAINER@|$maintainer|; s|@SIZE@|$size|
  s/@DEPENDS@/$depends/" packaging/debian/control >"$root/DEBIAN/control"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\n' | LC_ALL=C sort | xargs md5sum >DEBIAN/md5sums)

package=.build/httpcache_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package"
dpkg-deb --info "$package" | grep -E 'Version|Depends|Installed-Size'
