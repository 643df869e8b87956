import HTTPCacheDisk
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// The requirements for every store, checked on the disk store.
@Suite(.timeLimit(.minutes(10))) struct DiskStoreConformanceTests {
  @Test("conforms", arguments: StoreConformance.checks)
  func conforms(_ check: StoreCheck) async throws {
    let directory = try ScratchFolder()
    let stores = Counter()
    try await check.run { requirements in
      try DiskStore.open(
        directory: directory.path("cache-\(stores.increment())"), capacity: requirements.capacity,
        largestEntry: requirements.largestEntry, clock: requirements.clock)
    }
  }

  @Test("conforms under a memory tier", arguments: StoreConformance.checks)
  func conformsTiered(_ check: StoreCheck) async throws {
    let directory = try ScratchFolder()
    let stores = Counter()
    try await check.run { requirements in
      TieredStore(
        memory: MemoryStore(capacity: requirements.capacity / 4, clock: requirements.clock),
        base: try DiskStore.open(
          directory: directory.path("cache-\(stores.increment())"), capacity: requirements.capacity,
          largestEntry: requirements.largestEntry, clock: requirements.clock))
    }
  }
}
