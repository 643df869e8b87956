import HTTPCacheDisk
import HTTPCacheStore

extension HTTPCache.Configuration {
  /// The largest entry as it lies on disk; not less, whatever the cipher. What is longer before it is
  /// sealed is refused above.
  var largestEntryOnDisk: LargestEntry {
    guard encryption != nil, let bytes = largestEntryInBytes else { return largestEntry }
    return .bytes(SealedStore.longestSealed(of: bytes))
  }

  /// nil for a share, which is that of the store on disk.
  private var largestEntryInBytes: Int64? {
    if case .bytes(let bytes) = largestEntry { bytes } else { nil }
  }

  /// A store on disk as it is to be used: sealed if there is a cipher.
  ///
  /// - Throws: `CacheError`; the directory is not to be used then.
  func prepare(
    _ disk: DiskStore, _ cipher: (any CacheCipher)?
  ) throws(CacheError) -> any CacheStore {
    guard var cipher else {
      // Neither is worth going without the directory.
      do throws(CacheError) {
        tell(try disk.countSealed())
        try disk.mayStorePlain()
      } catch {
        observer?.cache(did: .storeFailed(operation: "look for what is sealed", error))
      }
      return disk
    }
    let secret = disk.secret
    let removed = try disk.removePlain()
    // An index that was found damaged just then was replaced, and has another one.
    if disk.secret != secret, let encryption { cipher = try encryption.cipher(secret: disk.secret) }
    if removed > 0 {
      observer?.cache(did: .encryption(.removedPlain(responses: removed)))
    }
    tell(try disk.countSealed(except: cipher))
    let observer = observer
    return try SealedStore(
      base: disk, cipher: cipher, largestEntry: largestEntryInBytes, executor: executor
    ) { error in
      observer?.cache(did: .storeFailed(operation: "open what is sealed", error))
    }
  }

  private func tell(_ count: Int) {
    if count > 0 { observer?.cache(did: .encryption(.otherKey(responses: count))) }
  }
}
