import HTTPCacheDisk
import HTTPCacheSealing
import HTTPCacheStore

extension HTTPCache.Configuration {
  /// The limit of an entry on disk, after encryption, which makes it longer. Entries that are too long before
  /// encryption are refused earlier.
  var largestEntryOnDisk: LargestEntry {
    guard encryption != nil, let bytes = largestEntryInBytes else { return largestEntry }
    return .bytes(SealedStore.longestSealed(of: bytes))
  }

  /// The limit in bytes; nil for a share, which the store on disk computes.
  private var largestEntryInBytes: Int64? {
    if case .bytes(let bytes) = largestEntry { bytes } else { nil }
  }

  /// Prepares a store on disk for use: encrypted if there is a cipher.
  ///
  /// - Throws: `CacheError`; the directory must then not be used.
  func prepare(
    _ disk: DiskStore, _ cipher: (any CacheCipher)?
  ) throws(CacheError) -> any CacheStore {
    guard var cipher else {
      // The cache works without either of these steps: their errors do not close the directory.
      do throws(CacheError) {
        tell(try disk.countSealed())
        try disk.mayStorePlain()
      } catch {
        observer?.observe(.storeFailed(operation: "look for what is sealed", error))
      }
      return disk
    }
    let secret = disk.secret
    let removed = try disk.removePlain()
    // A damaged index may just have been replaced; the new index has a new secret.
    if disk.secret != secret, let encryption { cipher = try encryption.cipher(secret: disk.secret) }
    if removed > 0 {
      observer?.observe(.encryption(.removedPlain(responses: removed)))
    }
    tell(try disk.countSealed(exceptKey: cipher.keyID))
    let observer = observer
    return try SealedStore(
      base: disk, cipher: cipher, largestEntry: largestEntryInBytes, executor: executor
    ) { error in
      observer?.observe(.storeFailed(operation: "open what is sealed", error))
    }
  }

  private func tell(_ count: Int) {
    if count > 0 { observer?.observe(.encryption(.otherKey(responses: count))) }
  }
}
