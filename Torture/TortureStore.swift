import HTTPCacheDisk
import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import Synchronization

/// The store under test: plain, or encrypted as `HTTPCache.open` does it.
struct TortureStore: Sendable {
  /// The first argument of a process that encrypts.
  static let argument = "--encrypted"

  let disk: DiskStore
  /// The store to use: the sealed store, or `disk` without encryption.
  let store: any CacheStore
  private let sealed: SealedStore?
  /// Damage that the cipher found, but the checksums did not.
  let damage = Damage()

  final class Damage: Sendable {
    private let errors = Mutex<[CacheError]>([])

    var all: [CacheError] { errors.withLock { $0 } }

    func note(_ error: CacheError) { errors.withLock { $0.append(error) } }
  }

  /// - Throws: `CacheError`.
  init(
    _ directory: String, capacity: Int64 = 1 << 28, isEncrypted: Bool, durability: Durability = .relaxed,
    verification: Verification = .firstRead, clock: any CacheClock = SystemClock()
  ) throws {
    disk = try DiskStore.open(
      directory: directory, capacity: capacity,
      options: DiskStore.Options(durability: durability, verification: verification),
      clock: clock)
    guard isEncrypted else {
      (store, sealed) = (disk, nil)
      return
    }
    _ = try disk.removePlain()
    let cipher = try CacheEncryption.key(try EncryptionKey(0..<32)).cipher(secret: disk.secret)
    let damage = damage
    let sealed = try SealedStore(base: disk, cipher: cipher) { damage.note($0) }
    (store, self.sealed) = (sealed, sealed)
  }

  /// The entry of a response in the store below, and the path of its body.
  ///
  /// - Throws: `CacheError`.
  func entry(of record: CacheRecord) async throws(CacheError) -> CacheEntry? {
    try await disk.entries(.all, after: nil, limit: 1_000).entries.first {
      $0.record.sequence == record.sequence
    }
  }

  /// The findings of a check of the store; empty if the store is sound.
  ///
  /// - Throws: `CacheError`.
  func verify(repair: Bool) async throws(CacheError) -> [String] {
    let report = try await disk.verify(repair: repair)
    let opened = try await sealed?.verify(repair: repair).findings ?? []
    return report.findings.map(\.description) + opened
  }
}
