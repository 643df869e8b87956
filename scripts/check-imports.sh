#!/usr/bin/env bash
# Compares the imports of each module with what it may import (docs/architecture.md): no others, and none in vain.
cd "$(dirname "$0")/.."
set -euo pipefail

system='HTTPCacheLibC|Synchronization'

allowed() {
  case $1 in
    HTTPCacheSemantics) echo 'HTTPTypes|RawStructuredFieldValues' ;;
    HTTPCacheStore) echo "$system|HTTPTypes|HTTPCacheSemantics|HTTPCacheFiles" ;;
    HTTPCacheSealing) echo 'Synchronization|HTTPTypes|HTTPCacheSemantics|HTTPCacheStore' ;;
    HTTPCacheLibC) echo 'Darwin|Glibc|Musl' ;;
    HTTPCacheFiles) echo "$system|Dispatch|CSystemShims" ;;
    HTTPCacheDisk)
      echo "$system|Dispatch|HTTPTypes|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheFiles|CSQLite|CSystemShims" ;;
    HTTPCaching)
      echo "$system|HTTPTypes|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheSealing|HTTPCacheDisk|HTTPCacheFiles|Crypto" ;;
    HTTPCacheURLSession)
      echo "Synchronization|Dispatch|Foundation|FoundationNetworking|HTTPTypes|HTTPCaching|HTTPCacheDownloads|HTTPCacheFiles|HTTPCacheSemantics" ;;
    HTTPCacheDownloads)
      echo "$system|CSystemShims|Dispatch|Foundation|HTTPCaching|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheSealing|HTTPCacheFiles" ;;
    HTTPCacheArchives) echo "$system|CZlib|Foundation|HTTPTypes|HTTPCacheFiles|HTTPCacheSemantics|HTTPCacheStore|HTTPCaching" ;;
    HTTPCacheImages)
      echo "$system|HTTPTypes|HTTPCaching|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheFiles|CTurboJPEG|CSpng|CWebP|CGif|CHeif|CoreGraphics|Foundation|ImageIO" ;;
    HTTPCacheNIO) echo "Synchronization|HTTPCaching|NIOCore" ;;
    HTTPCacheAsyncHTTPClient)
      echo "$system|Foundation|HTTPCacheSemantics|HTTPCaching|HTTPCacheNIO|AsyncHTTPClient|Logging|NIOCore|NIOPosix|NIOHTTP1|NIOHPACK|NIOHTTP2|NIOSSL|ServiceLifecycle" ;;
    HTTPCacheHummingbird)
      echo "Synchronization|HTTPCaching|HTTPCacheSemantics|HTTPCacheNIO|Hummingbird|NIOCore|Crypto|ServiceLifecycle" ;;
    HTTPCacheLogging) echo 'HTTPCaching|HTTPCacheSemantics|Logging' ;;
    HTTPCacheTracing) echo 'HTTPTypes|HTTPCaching|Tracing' ;;
    HTTPCacheRedis)
      echo "$system|HTTPCaching|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheSealing|Crypto|NIOCore|NIOPosix|NIOSSL" ;;
    HTTPCacheTesting)
      echo "$system|Foundation|HTTPTypes|HTTPCacheFiles|HTTPCacheSemantics|HTTPCacheStore|HTTPCaching" ;;
    HTTPCacheTestTraits) echo "Foundation|HTTPCacheArchives|HTTPCacheStore|HTTPCaching|Testing" ;;
    HTTPCacheFaults)
      echo "HTTPCacheLibC|Foundation|HTTPCacheFiles|HTTPCacheStore|HTTPCacheTesting|CSystemFaults" ;;
    HTTPCacheProxy)
      echo "$system|HTTPTypes|HTTPCacheSemantics|HTTPCacheStore|HTTPCaching|NIOCore|NIOPosix|NIOTLS|NIOHPACK|NIOHTTP1|NIOHTTP2|NIOSSL|Logging" ;;
    HTTPCacheCommand)
      echo "$system|CBuildCommit|CBrotli|CZstd|HTTPCacheArchives|Dispatch|Foundation|ArgumentParser|AsyncHTTPClient|HTTPTypes|HTTPCacheAsyncHTTPClient|HTTPCacheURLSession|HTTPCacheProxy|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheSealing|HTTPCacheDisk|HTTPCaching|NIOCore|NIOPosix|NIOHTTP1|NIOSSL|Logging|HTTPCacheDownloads|HTTPCacheImages|HTTPCacheRedis|Yams" ;;
    httpcache) echo 'HTTPCacheCommand' ;;
    HTTPCacheExample) echo "Foundation|HTTPCaching|HTTPCacheURLSession" ;;
    Torture)
      echo "$system|HTTPTypes|HTTPCacheFaults|HTTPCacheTesting|HTTPCaching|HTTPCacheDisk|HTTPCacheSealing|HTTPCacheStore|HTTPCacheSemantics" ;;
    HTTPCacheFuzzing) echo "HTTPTypes|HTTPCacheSemantics|HTTPCacheStore" ;;
    # Of Simulation.
    World) echo "$system|HTTPTypes|HTTPCacheSemantics|HTTPCacheStore|HTTPCaching|HTTPCacheTesting" ;;
    Command) echo "$system|HTTPCacheSimulation" ;;
    *) echo "" ;;
  esac
}

kinds='struct|class|enum|protocol|func|var|let|typealias'

# The pattern of an import of one of some modules, separated by "|".
import_of() { echo "import[[:space:]]+(($kinds)[[:space:]]+)?($1)([.[:space:]]|$)"; }

bad=0
for folder in Sources/*/ Tools/Sources/*/ Torture/ Fuzzing/Sources/*/ Simulation/*/; do
  module=$(basename "$folder")
  [ -n "$(find "$folder" -name '*.swift' -print -quit)" ] || continue
  table=$(allowed "$module")
  if [ -z "$table" ]; then
    echo "$module: not in the table of scripts/check-imports.sh"
    bad=1
    continue
  fi
  imports=$(find "$folder" -name '*.swift' -exec grep -HnE \
    '^[[:space:]]*((@[A-Za-z_]+(\([^)]*\))?|public|package|internal|private|fileprivate)[[:space:]]+)*import[[:space:]]' {} + || true)
  found=$(grep -vE "$(import_of "$table")" <<<"$imports" || true)
  if [ -n "$found" ]; then
    echo "$module imports what it may not:"
    echo "$found"
    bad=1
  fi
  for name in ${table//|/ }; do
    grep -qE "$(import_of "$name")" <<<"$imports" && continue
    echo "$module does not import $name: remove it from the table of scripts/check-imports.sh"
    bad=1
  done
done
exit $bad
