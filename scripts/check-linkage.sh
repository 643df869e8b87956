#!/usr/bin/env bash
# Links a program that uses only the library, runs it, and checks that neither the program nor the libraries that it
# loads contain Foundation. Without the trait Crypto: swift-crypto brings its own.
cd "$(dirname "$0")/.."
source scripts/lib.sh

swift_build "${untraited[@]}" --target HTTPCaching >/dev/null
bin=$(swift_build "${untraited[@]}" --show-bin-path)
probe=$scratch/no-traits/linkage
mkdir -p "$probe"
cat >"$probe/main.swift" <<'SWIFT'
import HTTPCaching

let cache = try HTTPCache.open(HTTPCache.Configuration())
print(cache.usage.memoryEntries)
SWIFT

# Only the objects that the build lists: the folder may have objects of deleted sources.
objects=("$bin"/CSystemShims.build/*.o)
for module in HTTPCaching HTTPCacheDisk HTTPCacheFiles HTTPCacheLibC HTTPCacheSealing HTTPCacheStore \
  HTTPCacheSemantics HTTPTypes RawStructuredFieldValues; do
  while read -r object; do objects+=("$object"); done < <(
    grep -oE '"object" *: *"[^"]+"' "$bin/$module.build/output-file-map.json" | cut -d'"' -f4)
done
swiftc -swift-version 6 -o "$probe/linkage" "$probe/main.swift" "${objects[@]}" \
  -I "$bin/Modules" -I Sources/CSQLite -Xcc -fmodule-map-file=Sources/CSQLite/module.modulemap \
  -Xcc "-fmodule-map-file=$bin/CSystemShims.build/module.modulemap" \
  -lsqlite3
[ "$("$probe/linkage")" = 0 ] || { echo "the program does not run"; exit 1; }

case $(uname -s) in
  Linux) loaded=$(ldd "$probe/linkage") ;;
  Darwin) loaded=$(otool -L "$probe/linkage") ;;
  *) echo "do not know how to look into a program here"; exit 1 ;;
esac
echo "$loaded" | grep -q sqlite3 || { echo "not linked with SQLite: this looks at the wrong thing"; exit 1; }
if echo "$loaded" | grep -i foundation; then
  echo "the library links Foundation"
  exit 1
fi
