import HTTPCacheDisk
public import HTTPCacheStore

extension HTTPCache {
  /// Opens a cache: memory over disk as the configuration says.
  ///
  /// A directory that cannot be used (not writable, full, vanished) leaves the cache in memory and
  /// is told to the observer as `.storeFailed`.
  ///
  /// - Throws: `CacheError` with `newerFormat` if a newer version wrote the directory, which then
  ///   stays untouched.
  public static func open(_ configuration: Configuration) throws(CacheError) -> HTTPCache {
    let memory = MemoryStore(
      capacity: configuration.memoryCapacity, largestEntry: configuration.largestEntry,
      clock: configuration.clock)
    guard let directory = configuration.directory else {
      return HTTPCache(configuration: configuration, store: memory)
    }
    FileHandout.sweep(in: directory)
    do throws(CacheError) {
      let disk = try DiskStore.open(
        directory: directory, capacity: configuration.diskCapacity,
        largestEntry: configuration.largestEntry,
        minimumFreeSpace: configuration.minimumFreeDiskSpace, durability: configuration.durability,
        verification: configuration.verification, clock: configuration.clock)
      for note in disk.openingNotes {
        configuration.observer?.cache(
          did: .storeFailed(operation: "open", CacheError(.damaged, note)))
      }
      if let note = disk.noRoomNote {
        configuration.observer?.cache(
          did: .storeFailed(operation: "open", CacheError(.noSpace, note)))
      }
      guard configuration.memoryCapacity > 0, disk.sharesGenerations else {
        return HTTPCache(configuration: configuration, store: disk)
      }
      let observer = configuration.observer
      return HTTPCache(
        configuration: configuration,
        store: TieredStore(memory: memory, base: disk) { operation, error in
          observer?.cache(did: .storeFailed(operation: operation, error))
        })
    } catch {
      if error.code == .newerFormat { throw error }
      configuration.observer?.cache(did: .storeFailed(operation: "open", error))
      return HTTPCache(configuration: configuration, store: memory)
    }
  }
}
