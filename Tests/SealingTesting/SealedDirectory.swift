import Foundation
package import HTTPCacheSealing
package import HTTPCacheStore
package import HTTPCacheTesting
package import HTTPCaching
package import Synchronization

/// A temporary directory, with stores that are sealed over it.
package final class SealedDirectory: Sendable {
  private let folder: ScratchFolder
  package let clock = ManualClock(now: StoreSample.start)
  package let damage = Mutex<[CacheError]>([])
  private let count = Mutex(0)

  package static let key = try? EncryptionKey(0..<32)

  package init() throws { folder = try ScratchFolder() }

  package var path: String { folder.path }

  /// A path that was not requested before.
  package func newPath() -> String {
    count.withLock { count in
      count += 1
      return path + "/cache-\(count)"
    }
  }

  package func disk(_ name: String = "cache", capacity: Int64 = 256 << 20) throws -> DiskStore {
    try DiskStore.open(directory: path + "/" + name, capacity: capacity, clock: clock)
  }

  package func sealed(_ base: any CacheStore, key: EncryptionKey? = key) throws -> SealedStore {
    guard let key else { throw CacheError(.invalidKey, "no key") }
    return try SealedStore(base: base, cipher: try CacheEncryption.key(key).cipher(secret: base.secret)) {
      error in self.damage.withLock { $0.append(error) }
    }
  }

  /// AES-GCM with the key of the tests.
  package static func cipher(of secret: [UInt8]) throws -> any CacheCipher {
    try CacheEncryption.key(try EncryptionKey(0..<32)).cipher(secret: secret)
  }

  /// Every byte of every file below the directory.
  package func everything() throws -> [UInt8] {
    var bytes: [UInt8] = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
      bytes += Array(name.utf8)
      bytes += FileManager.default.contents(atPath: path + "/" + name) ?? Data()
    }
    return bytes
  }

  /// The texts that are in the files in the clear.
  package func found(_ texts: [String]) throws -> [String] {
    let everything = Data(try everything())
    return texts.filter { everything.range(of: Data($0.utf8)) != nil }
  }
}
