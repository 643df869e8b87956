import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Testing

/// The checks for whole bodies that every store must pass, with a sealed store. Parts are cut to chunks; see
/// `SealedPartTests`.
@Suite(.timeLimit(.minutes(10))) struct SealedConformanceTests {
  @Test("conforms over a disk", arguments: StoreConformance.wholeBodyChecks)
  func conformsOverDisk(_ check: StoreCheck) async throws {
    let directory = try SealedDirectory()
    try await check.run { try Self.sealed(try Self.disk($0, in: directory), $0) }
  }

  @Test("conforms over memory", arguments: StoreConformance.wholeBodyChecks)
  func conformsOverMemory(_ check: StoreCheck) async throws {
    try await check.run { requirements in
      let memory = MemoryStore(
        capacity: requirements.capacity, largestEntry: Self.sealed(requirements.largestEntry),
        clock: requirements.clock)
      return try Self.sealed(memory, requirements)
    }
  }

  @Test("conforms under a memory tier", arguments: StoreConformance.wholeBodyChecks)
  func conformsTiered(_ check: StoreCheck) async throws {
    let directory = try SealedDirectory()
    try await check.run { requirements in
      TieredStore(
        memory: MemoryStore(capacity: requirements.capacity / 4, clock: requirements.clock),
        base: try Self.sealed(try Self.disk(requirements, in: directory), requirements))
    }
  }

  @Test("conforms with a cipher of other lengths", arguments: StoreConformance.wholeBodyChecks)
  func conformsWithOtherCipher(_ check: StoreCheck) async throws {
    let directory = try SealedDirectory()
    try await check.run { requirements in
      let disk = try Self.disk(requirements, in: directory)
      return try Self.sealed(disk, requirements, with: PaddedCipher(of: disk.secret, padding: 12))
    }
  }

  private static func disk(
    _ requirements: StoreRequirements, in directory: SealedDirectory
  ) throws -> DiskStore {
    try DiskStore.open(
      directory: directory.newPath(), capacity: requirements.capacity,
      largestEntry: sealed(requirements.largestEntry), clock: requirements.clock)
  }

  private static func sealed(
    _ base: any CacheStore, _ requirements: StoreRequirements, with cipher: (any CacheCipher)? = nil
  ) throws -> SealedStore {
    try SealedStore(
      base: base, cipher: try cipher ?? SealedDirectory.cipher(of: base.secret),
      largestEntry: bytes(requirements.largestEntry))
  }

  private static func bytes(_ limit: LargestEntry) -> Int64? {
    if case .bytes(let bytes) = limit { bytes } else { nil }
  }

  // The sealed length of a body of that size, with either cipher.
  private static func sealed(_ limit: LargestEntry) -> LargestEntry {
    bytes(limit).map { .bytes(SealedStore.sealedLength(of: $0, overhead: 40)) } ?? limit
  }
}
