// The Swift of Sources/HTTPCacheDisk/HTTPCacheDisk.docc/HTTPCacheDisk.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheDisk
import HTTPCacheStore

private func program1() async throws {
  let store = try DiskStore.open(directory: "cache", capacity: 1 << 30)
  for entry in try await store.entries(.all, after: nil, limit: 100).entries {
    print(entry.record.key.target, entry.record.bodyLength ?? 0)
  }
  print(try await store.verify(repair: false))
}
