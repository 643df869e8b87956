import HTTPCacheTesting
import HTTPCaching
import Testing

/// What every store has to show of whole bodies, shown by a sealed one. Parts are cut to chunks; see
/// `SealedPartTests`.
@Suite struct SealedConformanceTests {
  @Test("conforms over a disk", arguments: StoreConformance.wholeBodyChecks)
  func conformsOverDisk(_ check: StoreCheck) async throws {
    let directory = try SealedDirectory()
    try await check.run { requirements in
      let disk = try DiskStore.open(
        directory: directory.newPath(), capacity: requirements.capacity,
        largestEntry: Self.sealed(requirements.largestEntry),
        clock: requirements.clock)
      return SealedStore(
        base: disk, cipher: try Self.cipher(disk), largestEntry: Self.bytes(requirements.largestEntry))
    }
  }

  @Test("conforms over memory", arguments: StoreConformance.wholeBodyChecks)
  func conformsOverMemory(_ check: StoreCheck) async throws {
    try await check.run { requirements in
      let memory = MemoryStore(
        capacity: requirements.capacity,
        largestEntry: Self.sealed(requirements.largestEntry),
        clock: requirements.clock)
      return SealedStore(
        base: memory, cipher: try Self.cipher(memory), largestEntry: Self.bytes(requirements.largestEntry))
    }
  }

  @Test("conforms under a memory tier", arguments: StoreConformance.wholeBodyChecks)
  func conformsTiered(_ check: StoreCheck) async throws {
    let directory = try SealedDirectory()
    try await check.run { requirements in
      let disk = try DiskStore.open(
        directory: directory.newPath(), capacity: requirements.capacity,
        largestEntry: Self.sealed(requirements.largestEntry),
        clock: requirements.clock)
      return TieredStore(
        memory: MemoryStore(capacity: requirements.capacity / 4, clock: requirements.clock),
        base: SealedStore(
          base: disk, cipher: try Self.cipher(disk), largestEntry: Self.bytes(requirements.largestEntry)))
    }
  }

  private static func bytes(_ limit: LargestEntry) -> Int64? {
    if case .bytes(let bytes) = limit { bytes } else { nil }
  }

  // What a body of that size takes below.
  private static func sealed(_ limit: LargestEntry) -> LargestEntry {
    bytes(limit).map { .bytes(SealedStore.sealedLength(of: $0)) } ?? limit
  }

  private static func cipher(_ store: any CacheStore) throws -> any CacheCipher {
    try CacheEncryption.key(try EncryptionKey(0..<32)).cipher(secret: store.secret)
  }
}
