#!/usr/bin/env bash
# Compares the imports of each module with what it may import (docs/architecture.md).
cd "$(dirname "$0")/.."
set -euo pipefail

system='HTTPCacheLibC|Synchronization'

allowed() {
  case $1 in
    HTTPCacheSemantics) echo 'HTTPTypes|RawStructuredFieldValues' ;;
    HTTPCacheStore) echo "$system|Dispatch|HTTPTypes|HTTPCacheSemantics|HTTPCacheFiles" ;;
    HTTPCacheSealing) echo 'Synchronization|HTTPTypes|HTTPCacheSemantics|HTTPCacheStore' ;;
    HTTPCacheLibC) echo 'Darwin|Glibc|Musl' ;;
    HTTPCacheFiles) echo "$system|Dispatch|CSystemShims" ;;
    HTTPCacheDisk)
      echo "$system|Dispatch|HTTPTypes|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheFiles|CSQLite|CSystemShims" ;;
    HTTPCaching)
      echo "$system|HTTPTypes|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheSealing|HTTPCacheDisk|HTTPCacheFiles|Crypto" ;;
    HTTPCacheURLSession)
      echo "$system|Dispatch|Foundation|FoundationNetworking|HTTPTypes|HTTPCaching|HTTPCacheDownloads|HTTPCacheFiles|HTTPCacheSemantics" ;;
    HTTPCacheDownloads)
      echo "$system|CSystemShims|Dispatch|Foundation|HTTPTypes|HTTPCaching|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheSealing|HTTPCacheFiles" ;;
    HTTPCacheArchives) echo "$system|CZlib|Foundation|HTTPTypes|HTTPCacheFiles|HTTPCacheSemantics|HTTPCacheStore|HTTPCaching" ;;
    HTTPCacheImages)
      echo "$system|HTTPTypes|HTTPCaching|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheFiles|CTurboJPEG|CSpng|CWebP|CGif|CHeif|CoreGraphics|Foundation|ImageIO|UniformTypeIdentifiers" ;;
    HTTPCacheNIO) echo "$system|HTTPCaching|NIOCore" ;;
    HTTPCacheAsyncHTTPClient)
      echo "$system|Foundation|HTTPTypes|HTTPCacheSemantics|HTTPCaching|HTTPCacheNIO|AsyncHTTPClient|Logging|NIOCore|NIOPosix|NIOHTTP1|NIOHPACK|NIOHTTP2|NIOSSL|ServiceLifecycle" ;;
    HTTPCacheHummingbird)
      echo "$system|HTTPTypes|HTTPCaching|HTTPCacheSemantics|HTTPCacheNIO|Hummingbird|NIOCore|Crypto|ServiceLifecycle" ;;
    HTTPCacheLogging) echo 'HTTPCaching|HTTPCacheSemantics|Logging' ;;
    HTTPCacheTracing) echo 'HTTPTypes|HTTPCaching|Tracing' ;;
    HTTPCacheRedis)
      echo "$system|HTTPTypes|HTTPCaching|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheSealing|Crypto|NIOCore|NIOPosix|NIOSSL" ;;
    HTTPCacheTesting)
      echo "$system|Foundation|HTTPTypes|HTTPCacheFiles|HTTPCacheSemantics|HTTPCacheStore|HTTPCaching|Testing" ;;
    HTTPCacheTestTraits) echo "Foundation|HTTPCacheArchives|HTTPCacheStore|HTTPCaching|Testing" ;;
    HTTPCacheFaults)
      echo "$system|Foundation|HTTPCacheFiles|HTTPCacheStore|HTTPCacheTesting|CSystemFaults" ;;
    HTTPCacheProxy)
      echo "$system|Foundation|FoundationEssentials|HTTPTypes|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheDisk|HTTPCaching|NIOCore|NIOPosix|NIOTLS|NIOHPACK|NIOHTTP1|NIOHTTP2|NIOConcurrencyHelpers|NIOSSL|Logging" ;;
    HTTPCacheCommand)
      echo "$system|CBuildCommit|CBrotli|CZstd|HTTPCacheArchives|Dispatch|Foundation|FoundationNetworking|ArgumentParser|AsyncHTTPClient|HTTPTypes|HTTPCacheAsyncHTTPClient|HTTPCacheURLSession|HTTPCacheProxy|HTTPCacheSemantics|HTTPCacheStore|HTTPCacheSealing|HTTPCacheDisk|HTTPCaching|NIOCore|NIOPosix|NIOHTTP1|NIOConcurrencyHelpers|NIOSSL|Logging|HTTPCacheDownloads|HTTPCacheImages|HTTPCacheRedis|Yams" ;;
    httpcache) echo 'HTTPCacheCommand' ;;
    HTTPCacheExample) echo "Foundation|HTTPCaching|HTTPCacheURLSession" ;;
    *) echo "" ;;
  esac
}

bad=0
for folder in Sources/*/ Tools/Sources/*/; do
  module=$(basename "$folder")
  [ -n "$(find "$folder" -name '*.swift' -print -quit)" ] || continue
  table=$(allowed "$module")
  if [ -z "$table" ]; then
    echo "$module: not in the table of scripts/check-imports.sh"
    bad=1
    continue
  fi
  found=$(find "$folder" -name '*.swift' -exec grep -HnE \
    '^[[:space:]]*((@[A-Za-z_]+(\([^)]*\))?|public|package|internal|private|fileprivate)[[:space:]]+)*import[[:space:]]' {} + |
    grep -vE "import[[:space:]]+((struct|class|enum|protocol|func|var|let|typealias)[[:space:]]+)?($table)([.[:space:]]|$)" || true)
  if [ -n "$found" ]; then
    echo "$module imports what it may not:"
    echo "$found"
    bad=1
  fi
done
exit $bad
