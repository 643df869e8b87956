public import HTTPCacheSemantics
import Synchronization

/// A store in memory.
///
/// `peek` never answers nil, because nothing is stored elsewhere. Only `write` and `extend` throw. The variants of a key
/// are evicted together. If all entries in a full store are worth more than a new response (see `EvictionPolicy`), the
/// response is committed without an error, as if it had been evicted at once.
///
/// Keys are spread over shards. Each shard has a lock that is held for table operations only; capacity and
/// order of eviction are shared by all shards.
public final class MemoryStore: CacheStore {
  private static let shardCount = 16

  let shards: [MemoryShard]
  let clock: any CacheClock
  private let entryLimit: LargestEntry
  private let counters = Mutex(CacheCounts())
  private let recentRefusals = Mutex(RecentRefusals())
  // The partial responses that a writer is adding to, by sequence number.
  private let extended = Mutex<Set<UInt64>>([])
  private let lastSequence = Atomic<UInt64>(0)
  let changes = ChangeCounters()

  // Bytes and responses stored, and bytes of bodies that are being written.
  private let capacity: Atomic<Int64>
  private let used = Atomic<Int64>(0)
  private let entryCount = Atomic<Int>(0)
  private let inFlight = Atomic<Int64>(0)
  // Bytes promised to bodies that are being written and are stored nowhere else.
  private let promised = Atomic<Int64>(0)
  // Held while a pinned entry checks for free bytes and takes them.
  let pinning = Mutex(())
  // The highest priority evicted so far. Positive floating-point numbers compare like their bits.
  private let inflationBits = Atomic<UInt64>(0)

  /// A random key of this store.
  public let secret: [UInt8]

  /// Makes an empty store.
  ///
  /// - Parameters:
  ///   - capacity: bytes, including heads and tables.
  ///   - largestEntry: the longest body; an eighth of the capacity by default.
  ///   - clock: the time of uses.
  ///   - secret: 32 bytes; nil makes random ones.
  public init(
    capacity: Int64, largestEntry: LargestEntry = .default, clock: any CacheClock = SystemClock(),
    secret: [UInt8]? = nil
  ) {
    let capacity = max(0, capacity)
    self.capacity = Atomic(capacity)
    self.clock = clock
    self.secret = secret ?? [UInt8].random(count: 32)
    entryLimit = largestEntry.inMemory
    shards = (0..<Self.shardCount).map { _ in MemoryShard() }
  }

  /// The longest body that is stored, in bytes.
  public var largestEntry: Int64 {
    entryLimit.bytes(of: capacity.load(ordering: .relaxed))
  }

  /// The variants stored for a key; counts as a use of the key if there are any.
  public func peek(_ key: CacheKey) -> [StoredVariant]? {
    use(key, at: clock.now, countsAbsence: false)?.variants ?? []
  }

  /// The variants stored for a key; counts as a use of the key.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    use(key)?.variants ?? []
  }

  /// True.
  public var isInMemoryOnly: Bool { true }

  /// The ticket of a request that is about to be sent.
  public func ticket() -> InvalidationTicket {
    changes.ticket(seen: lastSequence.load(ordering: .relaxed))
  }

  /// Whether an invalidation or removal after a ticket was taken may match a response.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    // The store below gave other tickets, and compares them itself.
    changes.gave(ticket) && changes.isOvertaken(key, groups: groups, since: ticket)
  }

  /// Whether the partition of a response may have been wiped after a ticket was taken.
  public func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool {
    changes.gave(ticket) && changes.isWiped(key, since: ticket)
  }

  /// Begins to store a response.
  ///
  /// - Throws: `CacheError.tooLarge` if its announced length is above `largestEntry`;
  ///   `CacheError.notAdmitted` if other bodies that are being written need the memory.
  public func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    try MemoryWriter(
      record.with(ticket: record.ticket ?? ticket()), variantLimit: variantLimit, store: self)
  }

  /// Begins to add to a partial response.
  ///
  /// - Throws: `CacheError.unavailable` if it is not stored, or another writer is adding to it.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    try MemoryWriter(extending: record.with(ticket: record.ticket ?? ticket()), at: offset, store: self)
  }

  /// Remembers why a response was not stored; the last 256 are kept.
  public func note(_ refusal: RefusalNote) { recentRefusals.withLock { $0.add(refusal) } }

  /// Why responses of a key were not stored, latest first, at most four.
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    recentRefusals.withLock { $0.of(key) }
  }

  /// Removes all notes about refusals.
  func forgetRefusals() { recentRefusals.withLock { $0 = RecentRefusals() } }

  /// Takes the right to add to a partial response.
  ///
  /// - Returns: false if another writer has it.
  func beginExtension(of sequence: UInt64) -> Bool {
    extended.withLock { $0.insert(sequence).inserted }
  }

  /// Gives the right back.
  func endExtension(of sequence: UInt64) { extended.withLock { _ = $0.remove(sequence) } }

  /// Replaces the record of a stored response and keeps its body.
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    updateRecord(record)
  }

  /// Bytes and responses in use, including the bytes of bodies that are being written.
  public var usage: StoreUsage {
    StoreUsage(
      memoryBytes: used.load(ordering: .relaxed) + inFlight.load(ordering: .relaxed),
      memoryCapacity: capacity.load(ordering: .relaxed),
      memoryEntries: entryCount.load(ordering: .relaxed))
  }

  /// Adds to the counters.
  public func count(_ counts: CacheCounts) { counters.withLock { $0 += counts } }

  /// The counters of this store since it was made.
  public func counts() async throws(CacheError) -> CacheCounts { counters.withLock { $0 } }

  /// Changes the capacity in bytes, and evicts until usage is within it. Pinned entries stay.
  public func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    guard let memory else { return }
    capacity.store(max(0, memory), ordering: .relaxed)
    trimMemory(to: memory)
  }

  /// Evicts until at most `bytes` are in use, for a system that is low on memory. The capacity and pinned
  /// entries do not change.
  public func trimMemory(to bytes: Int64) {
    evictExcess(over: max(0, bytes), sparing: nil)
    compact()
  }

  func shard(of key: CacheKey) -> MemoryShard { shards[Self.shardIndex(of: key)] }

  static func shardIndex(of key: CacheKey) -> Int { Int(key.processHash >> 60) }

  /// The first sequence number of a tier for responses that are only in its memory: above the numbers of any
  /// index below, so that a number identifies one response of a key.
  static let firstSequenceOfTier: UInt64 = 1 << 62

  /// Numbers later responses from `first` on.
  func beginSequence(at first: UInt64) { lastSequence.max(first, ordering: .relaxed) }

  /// A number higher than all earlier ones.
  func nextSequence() -> UInt64 { lastSequence.add(1, ordering: .relaxed).newValue }

  /// Whether a writer may collect more bytes of a body that is also stored elsewhere: all such bodies
  /// together take at most a quarter of the capacity, unless there is only one.
  ///
  /// - Parameter own: the bytes that it has collected.
  func mayCollect(_ bytes: Int64, having own: Int64) -> Bool {
    let all = inFlight.load(ordering: .relaxed)
    return all <= own || all + bytes <= capacityNow / 4
  }

  /// Counts the change of a shard.
  func account(bytes: Int64, variants: Int) {
    // A store that sees the bytes sees the priority that their shard has published.
    used.add(bytes, ordering: .acquiringAndReleasing)
    entryCount.add(variants, ordering: .relaxed)
  }

  /// Bytes above `limit`: those stored, and those of bodies being written beyond `freeInFlight`.
  ///
  /// - Parameter own: bytes of bodies being written that do not count, because they are about to be stored.
  func excess(over limit: Int64, without own: Int64 = 0) -> Int64 {
    let growing = inFlight.load(ordering: .relaxed) - own
    return used.load(ordering: .acquiring) + max(0, growing - Self.freeInFlight) - limit
  }

  /// Promises bytes to a body that is stored nowhere else.
  ///
  /// - Returns: false if all these bodies together would take more than the capacity.
  func promise(_ bytes: Int64) -> Bool {
    guard bytes > 0 else { return true }
    var current = promised.load(ordering: .relaxed)
    while bytes <= capacityNow - current {
      let (isExchanged, original) = promised.weakCompareExchange(
        expected: current, desired: current + bytes, ordering: .relaxed)
      if isExchanged { return true }
      current = original
    }
    return false
  }

  /// Counts bytes of a body that is being written.
  func addInFlight(_ bytes: Int64) { inFlight.add(bytes, ordering: .relaxed) }

  /// Stops counting bytes that were promised to a body, or written to it.
  func takeBack(promised bytes: Int64, written: Int64) {
    promised.subtract(bytes, ordering: .relaxed)
    inFlight.subtract(written, ordering: .relaxed)
  }

  /// The capacity in bytes.
  var capacityNow: Int64 { capacity.load(ordering: .relaxed) }

  /// See `EvictionPolicy.inflation`.
  var inflation: Double { Double(bitPattern: inflationBits.load(ordering: .relaxed)) }

  func raiseInflation(to priority: Double) {
    inflationBits.max(priority.bitPattern, ordering: .relaxed)
  }
}

extension MemoryStore: GenerationSource, TierBase {
  /// Rises with each change of the responses of a key.
  package func generation(of key: CacheKey) -> Generation {
    Generation(changes: changes.generation(of: key.processHash))
  }

  /// False: each change raises the generations of the keys that have matching responses.
  package func hasSelected(_ key: CacheKey, groups: [String], since selections: UInt64) -> Bool { false }

  package func isKnownAbsent(_ key: CacheKey) -> Bool { group(key) == nil }

  /// Counts uses.
  package func recordUses(_ uses: [KeyUses]) {
    for uses in uses { for _ in 0..<uses.count { _ = use(uses.key, at: uses.last) } }
  }

  /// The variants stored for a key.
  public func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    group(key)?.variants ?? []
  }

  /// Takes copies of all responses that the store below has for a key, if the policy admits them.
  func adopt(_ key: CacheKey, _ copies: [(CacheRecord, BodyBytes)], generation: Generation) {
    let variants = copies.map { record, bytes in
      StoredVariant(record: record, body: MemoryBody(bytes, record: record))
    }
    let costs = copies.map { $0.memoryCost + Int64($1.count) }
    guard costs.reduce(0, +) <= capacityNow else { return dropCopies(of: key) }
    _ = place(key) { group in
      group.adopt(variants, costs: costs, generation: generation)
    } otherwise: { group in
      group.dropCopies()
    }
  }

  /// Drops the copies of responses that the store below has for a key.
  func dropCopies(of key: CacheKey) { change(key) { $0.dropCopies() } }

  /// Makes copies responses of this tier alone, because the store below is about to lose its responses.
  ///
  /// - Parameters:
  ///   - ticket: the ticket of these responses.
  ///   - isCurrent: whether the copies of a key match the store below.
  func keepCopies(taking ticket: InvalidationTicket, where isCurrent: (CacheKey, MemoryGroup) -> Bool) {
    for (key, _) in groups(.all) {
      change(key) { group in
        guard isCurrent(key, group) else { return }
        group.keepCopies(taking: ticket) { nextSequence() }
      }
    }
  }
}
