import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Synchronization

/// A memory store that simulates the store below a tier: its usage is that of a disk, several tiers can share
/// it, and bodies above `inline` are not in memory.
final class DiskLikeStore: CacheStore, GenerationSource, TierBase {
  let store: MemoryStore
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
    store = MemoryStore(capacity: capacity, largestEntry: largestEntry, clock: clock)
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

  func generation(of key: CacheKey) -> UInt64 {
    tells.load(ordering: .relaxed) ? changes.load(ordering: .acquiring) : 0
  }

  func isKnownAbsent(_ key: CacheKey) -> Bool { tells.load(ordering: .relaxed) && store.isKnownAbsent(key) }

  func recordUses(_ uses: [KeyUses]) {
    forwardedUses.add(uses.reduce(0) { $0 + $1.count }, ordering: .relaxed)
    store.recordUses(uses)
  }

  func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    variantReadCount.add(1, ordering: .relaxed)
    return wrap(try store.variants(of: key))
  }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    readCount.add(1, ordering: .relaxed)
    return wrap(try store.read(key))
  }

  func ticket() -> InvalidationTicket { store.ticket() }
  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    store.isOvertaken(key, groups: groups, since: ticket)
  }
  func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool {
    store.isWiped(key, since: ticket)
  }

  func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    let refuse = { @Sendable [store] (stored: CacheRecord) async throws(CacheError) -> Void in
      _ = try await store.remove(.variant(stored.key, sequence: stored.sequence))
    }
    return ChangingWriter(
      try await store.write(record, variantLimit: variantLimit),
      refuse: admits.load(ordering: .relaxed) ? nil : refuse
    ) { [self] in change() }
  }

  func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    ChangingWriter(try await store.extend(record, at: offset)) { [self] in change() }
  }

  func note(_ refusal: RefusalNote) { store.note(refusal) }
  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    try store.refusals(of: key)
  }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    defer { change() }
    return try await store.update(record)
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    defer { change() }
    return try await store.remove(selection)
  }

  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    defer { change() }
    return try await store.wipe(mode: mode, partition: partition)
  }

  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    defer { change() }
    return try await store.mark(selection, as: mark)
  }

  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    try await store.entries(selection, after: cursor, limit: limit)
  }

  var usage: StoreUsage {
    let usage = store.usage
    return StoreUsage(
      diskBytes: usage.memoryBytes, diskCapacity: usage.memoryCapacity,
      diskEntries: usage.memoryEntries)
  }

  var secret: [UInt8] { store.secret }
  func count(_ counts: CacheCounts) { store.count(counts) }
  func counts() async throws(CacheError) -> CacheCounts { try await store.counts() }

  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    try await store.setCapacity(memory: disk, disk: nil)
  }

  func flush() async {}

  private func change() { changes.add(1, ordering: .acquiringAndReleasing) }

  private func wrap(_ variants: [StoredVariant]) -> [StoredVariant] {
    variants.map { variant in
      guard (variant.record.bodyLength ?? 0) > Int64(inline) else { return variant }
      return StoredVariant(record: variant.record, body: FileLikeBody(variant.body))
    }
  }
}
