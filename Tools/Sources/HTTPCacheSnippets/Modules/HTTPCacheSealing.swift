// The Swift of Sources/HTTPCacheSealing/HTTPCacheSealing.docc/HTTPCacheSealing.md, written by scripts/snippets.py.
// swift-format-ignore-file

import HTTPCacheSealing
import HTTPCacheStore

private func program1() async throws {
  func encrypted(_ base: any CacheStore, with cipher: any CacheCipher) throws -> any CacheStore {
    try SealedStore(base: base, cipher: cipher)
  }
}
