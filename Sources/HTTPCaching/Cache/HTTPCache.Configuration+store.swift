import HTTPCacheDisk
import HTTPCacheSealing
import HTTPCacheStore

/// The store that a configuration asks for.
extension HTTPCache.Configuration {
  /// Opens the store: memory over disk, encrypted if configured. As `HTTPCache.open(_:fallsBackToMemory:)`.
  func openStore(fallsBackToMemory: Bool) throws(CacheError) -> any CacheStore {
    let memory = MemoryStore(capacity: memoryCapacity, largestEntry: largestEntry, clock: clock)
    guard let directory else { return memory }
    FileHandout.sweep(in: directory)
    let disk: DiskStore
    do throws(CacheError) {
      disk = try DiskStore.open(
        directory: directory, capacity: diskCapacity,
        largestEntry: largestEntryOnDisk,
        minimumFreeSpace: minimumFreeDiskSpace,
        options: DiskStore.Options(
          durability: durability, verification: verification),
        clock: clock)
    } catch {
      if error.code == .newerFormat || !fallsBackToMemory { throw error }
      observer?.observe(.storeFailed(operation: "open", error))
      return memory
    }
    for note in disk.openingNotes {
      observer?.observe(
        .storeFailed(operation: "open", CacheError(.damaged, note)))
    }
    if let previous = disk.previousCapacity {
      // Not the capacity in `usage`, which may be read just before the index thread writes the new one.
      let capacity = max(0, diskCapacity ?? disk.usage.diskCapacity)
      observer?.observe(
        .capacityChanged(from: previous, to: capacity, usage: disk.previousUsage))
    }
    if let note = disk.noRoomNote {
      observer?.observe(
        .storeFailed(operation: "open", CacheError(.noSpace, note)))
    }
    let cipher = try encryption?.cipher(secret: disk.secret)
    let base: any CacheStore
    do throws(CacheError) { base = try prepare(disk, cipher) } catch {
      if !fallsBackToMemory { throw error }
      observer?.observe(.storeFailed(operation: "open", error))
      return memory
    }
    guard memoryCapacity > 0, disk.sharesGenerations else { return base }
    return TieredStore(memory: memory, base: base) { [observer] operation, error in
      observer?.observe(.storeFailed(operation: operation, error))
    }
  }

  /// The limit of an entry on disk, after encryption, which makes it longer. Entries that are too long before
  /// encryption are refused earlier.
  private var largestEntryOnDisk: LargestEntry {
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
  private func prepare(
    _ disk: DiskStore, _ cipher: (any CacheCipher)?
  ) throws(CacheError) -> any CacheStore {
    guard var cipher else {
      // The cache works without either of these steps: their errors do not close the directory.
      do throws(CacheError) {
        tellSealed(try disk.countSealed())
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
    tellSealed(try disk.countSealed(exceptKey: cipher.keyID))
    return try SealedStore(
      base: disk, cipher: cipher, largestEntry: largestEntryInBytes, executor: executor
    ) { [observer] error in
      observer?.observe(.storeFailed(operation: "open what is sealed", error))
    }
  }

  private func tellSealed(_ count: Int) {
    if count > 0 { observer?.observe(.encryption(.otherKey(responses: count))) }
  }

  // MARK: Seeds

  /// The name of the file for marks of seeds, in the directory of the cache.
  package static let seedMarksName = "Seeds.marks"

  /// The store with the seeds below it; the store itself without seeds.
  func seeded(_ store: any CacheStore) -> any CacheStore {
    guard !seeds.isEmpty else { return store }
    return SeedLayer(
      base: store, seeds: seeds, mode: rules.mode,
      marksPath: directory.flatMap { $0.isEmpty ? nil : "\($0)/\(Self.seedMarksName)" }, clock: clock
    ) { [observer] operation, error in
      observer?.observe(.storeFailed(operation: operation, error))
    }
  }
}
