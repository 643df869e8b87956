#!/usr/bin/env bash
# Builds HTTPCacheFuzzing optimised and links a driver with it: link-fuzzing.sh DRIVER SCRATCH [OPTIONS]
# The drivers `images` and `recordings` are linked with HTTPCacheImages and the codecs, or HTTPCacheArchives, instead.
#
# SwiftPM cannot link libFuzzer (it renames main), and a nested package could not see declarations with package
# access. So the objects are linked here.
cd "$(dirname "$0")/.."
set -euo pipefail

driver=$1
scratch=$2
shift 2
options=()
for option in "$@"; do options+=(-Xswiftc "$option"); done
product=HTTPCacheFuzzing
modules=(HTTPCacheFuzzing HTTPCacheStore HTTPCacheFiles HTTPCacheLibC HTTPCacheSemantics HTTPTypes
  RawStructuredFieldValues)
traits=(--disable-default-traits)
libraries=()
links=()
case $driver in
  images)
    product=HTTPCacheImages
    traits=(--traits ImageCodecs)
    libraries=(-lturbojpeg -lspng -lwebp -lwebpdemux -lgif -lheif -lsqlite3)
    links=(CSQLite CTurboJPEG CSpng CWebP CGif CHeif)
    ;;
  recordings)
    product=HTTPCacheArchives
    libraries=(-lz -lsqlite3)
    links=(CSQLite CZlib)
    ;;
esac
if [ ${#links[@]} -gt 0 ]; then
  modules=("$product" HTTPCaching HTTPCacheDisk HTTPCacheSealing "${modules[@]:1}")
  for module in "${links[@]}"; do
    libraries+=(-Xcc "-fmodule-map-file=Sources/$module/module.modulemap")
  done
fi
libraries+=(-Xcc "-fmodule-map-file=$scratch/release/CSystemShims.build/module.modulemap")
target=(--scratch-path "$scratch" -c release "${traits[@]}")
log=$scratch/$driver.log
mkdir -p "$scratch"
if ! swift build "${target[@]}" --target "$product" "${options[@]}" >"$log" 2>&1; then
  cat "$log"
  exit 1
fi
bin=$(swift build "${target[@]}" --show-bin-path)

# Only the objects that the build lists: the folder may have objects of deleted sources.
objects=()
for module in "${modules[@]}"; do
  while read -r object; do [ ! -e "$object" ] || objects+=("$object"); done < <(
    grep -oE '"object" *: *"[^"]+"' "$bin/$module.build/output-file-map.json" | cut -d'"' -f4)
done
# SwiftPM lists no objects of C.
for object in "$bin"/CSystemShims.build/*.o; do objects+=("$object"); done
swiftc -O -swift-version 6 -parse-as-library "$@" \
  -module-name driver -o "$scratch/$driver" "Fuzzing/Drivers/$driver.swift" "${objects[@]}" \
  -I "$bin/Modules" "${libraries[@]}" >"$log" 2>&1 || { cat "$log"; exit 1; }
