// The Swift of docs/encryption.md, written by scripts/snippets.py.
// swift-format-ignore-file

import Foundation
import HTTPCacheSealing
import HTTPCacheStore
import HTTPCaching

private func program1() async throws {
  let key = try EncryptionKey(try Data(contentsOf: URL(fileURLWithPath: "/run/secrets/cache-key")))
  let cache = try HTTPCache.open(
    HTTPCache.Configuration(directory: "/var/cache/app", encryption: .key(key)))

  func encrypted(_ base: any CacheStore, _ encryption: CacheEncryption) throws -> any CacheStore {
    try SealedStore(base: base, cipher: try encryption.cipher(secret: base.secret))
  }
}
