import HTTPCacheDisk
import HTTPCacheStore

extension HTTPCache.Configuration {
  /// The largest entry as it lies on disk.
  var largestEntryOnDisk: LargestEntry {
    guard encryption != nil, let bytes = largestEntryInBytes else { return largestEntry }
    return .bytes(SealedStore.sealedLength(of: bytes))
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
    guard let cipher else {
      // Neither is worth going without the directory.
      do throws(CacheError) {
        tell(try disk.countSealed())
        try disk.mayStorePlain()
      } catch {
        observer?.cache(did: .storeFailed(operation: "look for what is sealed", error))
      }
      return disk
    }
    let removed = try disk.removePlain()
    if removed > 0 {
      observer?.cache(did: .encryption(.removedPlain(responses: removed)))
    }
    tell(try disk.countSealed(except: cipher))
    let observer = observer
    return SealedStore(base: disk, cipher: cipher, largestEntry: largestEntryInBytes) { error in
      observer?.cache(did: .storeFailed(operation: "open what is sealed", error))
    }
  }

  private func tell(_ count: Int) {
    if count > 0 { observer?.cache(did: .encryption(.otherKey(responses: count))) }
  }
}
