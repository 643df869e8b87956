import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Synchronization

/// A memory store that simulates the store below a tier: its usage is that of a disk, several tiers can share
/// it, and bodies above `inline` are not in memory.
final class DiskLikeStore: StoreLayer, GenerationSource, TierBase {
  let memory: MemoryStore
  var base: any CacheStore { memory }
  private let inline: Int
  private let changes = Atomic<UInt64>(0)
  private let forwardedUses = Atomic<Int>(0)
  private let readCount = Atomic<Int>(0)
  /// Whether a whole response that is committed stays: a disk may find that what it has is worth more.
  let admits = Atomic<Bool>(true)
  /// Whether its generations tell of its changes.
  let tells = Atomic<Bool>(true)
  private let variantReadCount = Atomic<Int>(0)

  init(
    capacity: Int64 = 32 << 20, largestEntry: LargestEntry = .default,
    clock: any CacheClock = ManualClock(now: StoreSample.start), inline: Int = 16 << 10
  ) {
    memory = MemoryStore(capacity: capacity, largestEntry: largestEntry, clock: clock)
    self.inline = inline
  }

  /// A tier over this store.
  func tier(memory: Int64 = 8 << 20) -> TieredStore {
    TieredStore(memory: MemoryStore(capacity: memory), base: self)
  }

  var uses: Int { forwardedUses.load(ordering: .relaxed) }
  var reads: Int { readCount.load(ordering: .relaxed) }
  /// How often a tier looked without counting a use.
  var variantReads: Int { variantReadCount.load(ordering: .relaxed) }

  func generation(of key: CacheKey) -> Generation {
    Generation(changes: tells.load(ordering: .relaxed) ? changes.load(ordering: .acquiring) : 0)
  }

  func hasSelected(_ key: CacheKey, groups: [String], since selections: UInt64) -> Bool { false }
  var tellsOfChanges: Bool { tells.load(ordering: .relaxed) }

  func isKnownAbsent(_ key: CacheKey) -> Bool { tells.load(ordering: .relaxed) && memory.isKnownAbsent(key) }

  func recordUses(_ uses: [KeyUses]) {
    forwardedUses.add(uses.reduce(0) { $0 + $1.count }, ordering: .relaxed)
    memory.recordUses(uses)
  }

  func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    variantReadCount.add(1, ordering: .relaxed)
    return wrap(try memory.variants(of: key))
  }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    readCount.add(1, ordering: .relaxed)
    return wrap(try memory.read(key))
  }

  func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    let refuse = { @Sendable [memory] (stored: CacheRecord) async throws(CacheError) -> Void in
      _ = try await memory.remove(.variant(stored.key, sequence: stored.sequence))
    }
    return ChangingWriter(
      try await memory.write(record, variantLimit: variantLimit),
      refuse: admits.load(ordering: .relaxed) ? nil : refuse
    ) { [self] in change() }
  }

  func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    ChangingWriter(try await memory.extend(record, at: offset)) { [self] in change() }
  }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    defer { change() }
    return try await memory.update(record)
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    defer { change() }
    return try await memory.remove(selection)
  }

  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    defer { change() }
    return try await memory.wipe(mode: mode, partition: partition)
  }

  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    defer { change() }
    return try await memory.mark(selection, as: mark)
  }

  var usage: StoreUsage {
    let usage = memory.usage
    return StoreUsage(
      diskBytes: usage.memoryBytes, diskCapacity: usage.memoryCapacity,
      diskEntries: usage.memoryEntries)
  }

  // Nothing of a disk is in memory.
  var isInMemoryOnly: Bool { false }
  func peek(_ key: CacheKey) -> [StoredVariant]? { nil }
  func trimMemory(to bytes: Int64) {}

  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    try await base.setCapacity(memory: disk, disk: nil)
  }

  private func change() { changes.add(1, ordering: .acquiringAndReleasing) }

  private func wrap(_ variants: [StoredVariant]) -> [StoredVariant] {
    variants.map { variant in
      guard (variant.record.bodyLength ?? 0) > Int64(inline) else { return variant }
      return StoredVariant(record: variant.record, body: FileLikeBody(variant.body))
    }
  }
}
