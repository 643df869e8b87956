import HTTPCacheDisk
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// What every store has to show, shown by ours.
@Suite struct DiskStoreConformanceTests {
  @Test("conforms", arguments: StoreConformance.checks)
  func conforms(_ check: StoreCheck) async throws {
    let directory = try TemporaryDirectory()
    let stores = Counter()
    try await check.run { requirements in
      try DiskStore.open(
        directory: directory.path("cache-\(stores.next())"), capacity: requirements.capacity,
        largestEntry: requirements.largestEntry, clock: requirements.clock)
    }
  }
}
