import HTTPCacheDisk
import HTTPCacheStore

extension HTTPCache.Configuration {
  /// The largest entry as it lies on disk.
  var largestEntryOnDisk: Int64? {
    encryption == nil ? largestEntry : largestEntry.map { SealedStore.sealedLength(of: $0) }
  }

  /// A store on disk as it is to be used: sealed if there is an encryption.
  ///
  /// - Throws: `CacheError`; the directory is not to be used then.
  func sealing(_ disk: DiskStore) throws(CacheError) -> any CacheStore {
    guard let encryption else {
      tell(try disk.countSealed())
      try disk.mayStorePlain()
      return disk
    }
    let cipher = try encryption.cipher(secret: disk.secret)
    let removed = try disk.removePlain()
    if removed > 0 {
      observer?.cache(did: .encryption(.removedPlain(responses: removed)))
    }
    tell(try disk.countSealed(except: cipher))
    let observer = observer
    return SealedStore(base: disk, cipher: cipher, largestEntry: largestEntry) { error in
      observer?.cache(did: .storeFailed(operation: "open what is sealed", error))
    }
  }

  private func tell(_ count: Int) {
    if count > 0 { observer?.cache(did: .encryption(.otherKey(responses: count))) }
  }
}
