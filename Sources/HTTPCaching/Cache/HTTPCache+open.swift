import HTTPCacheDisk
public import HTTPCacheStore

extension HTTPCache {
  /// Opens a cache: memory over disk, as the configuration says.
  ///
  /// If the directory cannot be used (not writable, full, vanished), the cache works in memory and the observer
  /// receives `.storeFailed`. The observer receives `.encryption` about encryption in the directory: responses
  /// under another key stay there; responses in plain text are removed before this function returns, which
  /// takes a while if there are many.
  ///
  /// - Parameters:
  ///   - configuration: how it is to be.
  ///   - fallsBackToMemory: whether a directory that cannot be used leaves the cache in memory; if not, the
  ///     error is thrown.
  /// - Throws: `CacheError` with `newerFormat` if a newer version wrote the directory, which then
  ///   stays untouched; what making the cipher throws, since nothing may be stored without it then.
  public static func open(
    _ configuration: Configuration, fallsBackToMemory: Bool = true
  ) throws(CacheError) -> HTTPCache {
    var configuration = configuration
    configuration.directory = configuration.directory.map { DirectoryPath.absolute($0) }
    let memory = MemoryStore(
      capacity: configuration.memoryCapacity, largestEntry: configuration.largestEntry,
      clock: configuration.clock)
    guard let directory = configuration.directory else {
      return HTTPCache(configuration: configuration, store: memory)
    }
    FileHandout.sweep(in: directory)
    let disk: DiskStore
    do throws(CacheError) {
      disk = try DiskStore.open(
        directory: directory, capacity: configuration.diskCapacity,
        largestEntry: configuration.largestEntryOnDisk,
        minimumFreeSpace: configuration.minimumFreeDiskSpace,
        options: DiskStore.Options(
          durability: configuration.durability, verification: configuration.verification),
        clock: configuration.clock)
    } catch {
      if error.code == .newerFormat || !fallsBackToMemory { throw error }
      configuration.observer?.observe(.storeFailed(operation: "open", error))
      return HTTPCache(configuration: configuration, store: memory)
    }
    for note in disk.openingNotes {
      configuration.observer?.observe(
        .storeFailed(operation: "open", CacheError(.damaged, note)))
    }
    if let previous = disk.previousCapacity {
      // Not the capacity in `usage`, which may be read just before the index thread writes the new one.
      let usage = disk.usage
      let capacity = max(0, configuration.diskCapacity ?? usage.diskCapacity)
      configuration.observer?.observe(
        .capacityChanged(from: previous, to: capacity, usage: usage.diskBytes))
    }
    if let note = disk.noRoomNote {
      configuration.observer?.observe(
        .storeFailed(operation: "open", CacheError(.noSpace, note)))
    }
    let cipher = try configuration.encryption?.cipher(secret: disk.secret)
    let base: any CacheStore
    do throws(CacheError) { base = try configuration.prepare(disk, cipher) } catch {
      if !fallsBackToMemory { throw error }
      configuration.observer?.observe(.storeFailed(operation: "open", error))
      return HTTPCache(configuration: configuration, store: memory)
    }
    guard configuration.memoryCapacity > 0, disk.sharesGenerations else {
      return HTTPCache(configuration: configuration, store: base)
    }
    let observer = configuration.observer
    return HTTPCache(
      configuration: configuration,
      store: TieredStore(memory: memory, base: base) { operation, error in
        observer?.observe(.storeFailed(operation: operation, error))
      })
  }
}
