public import HTTPCacheSemantics
import Synchronization

/// A store in memory.
///
/// It knows everything it holds, so `peek` never answers `.unknown`. The variants of a key are evicted
/// together. A response that is refused because everything in the full store is worth more (see
/// `EvictionPolicy`) is committed without an error, as if it had been evicted at once.
///
/// Keys are spread over shards, each with a lock of its own that is held for table operations only;
/// capacity and the order of eviction are those of the whole store.
public final class MemoryStore: CacheStore {
  private static let shardCount = 16

  let shards: [MemoryShard]
  let clock: any CacheClock
  private let entryLimit: LargestEntry
  private let counters = Mutex(CacheCounts())
  private let recentRefusals = Mutex(RecentRefusals(limit: 256))
  // The partial responses that somebody is adding to, by sequence number.
  private let extended = Mutex<Set<UInt64>>([])
  private let lastSequence = Atomic<UInt64>(0)
  let invalidations = InvalidationLog()

  // Bytes and responses stored, and bytes of bodies that are being written.
  private let capacity: Atomic<Int64>
  private let used = Atomic<Int64>(0)
  private let entryCount = Atomic<Int>(0)
  private let inFlight = Atomic<Int64>(0)
  // Bytes promised to bodies that are being written and are stored nowhere else.
  private let promised = Atomic<Int64>(0)
  // Held while something pinned looks for room and takes it.
  let pinning = Mutex(())
  // What has been evicted had at most this priority. Positive numbers compare like their bits.
  private let inflationBits = Atomic<UInt64>(0)

  /// A random key of this store.
  public let secret: [UInt8]

  /// Makes an empty store.
  ///
  /// - Parameters:
  ///   - capacity: bytes, heads and tables included.
  ///   - largestEntry: the longest body.
  ///   - clock: tells when entries were last used.
  ///   - secret: 32 bytes; nil makes random ones.
  public init(
    capacity: Int64, largestEntry: LargestEntry = .default, clock: any CacheClock = SystemClock(),
    secret: [UInt8]? = nil
  ) {
    let capacity = max(0, capacity)
    self.capacity = Atomic(capacity)
    self.clock = clock
    self.secret = secret ?? Self.randomKey()
    entryLimit = largestEntry
    shards = (0..<Self.shardCount).map { _ in MemoryShard() }
  }

  /// The longest body that is stored, in bytes.
  public var largestEntry: Int64 {
    entryLimit.bytes(of: capacity.load(ordering: .relaxed))
  }

  /// What is stored for a key; counts as a use of it.
  public func peek(_ key: CacheKey) -> PeekResult {
    guard let group = use(key) else { return .absent }
    return .found(group.variants)
  }

  /// What is stored for a key; counts as a use of it.
  ///
  /// - Throws: nothing.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    use(key)?.variants ?? []
  }

  /// The ticket of a request that is about to be sent.
  public func ticket() -> InvalidationTicket {
    invalidations.ticket(seen: lastSequence.load(ordering: .relaxed))
  }

  /// Whether a response may match something that was invalidated or removed after a ticket was taken.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    invalidations.isOvertaken(key, groups: groups, since: ticket)
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

  /// Begins to add to a part of a response.
  ///
  /// - Throws: `CacheError.unavailable` if it is not stored, or somebody is adding to it.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    try MemoryExtension(record.with(ticket: record.ticket ?? ticket()), at: offset, store: self)
  }

  /// Remembers why a response was not stored; the last 256 are kept.
  public func note(_ refusal: RefusalNote) { recentRefusals.withLock { $0.add(refusal) } }

  /// Why responses of a key were not stored, the latest first, four at most.
  ///
  /// - Throws: nothing.
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    recentRefusals.withLock { $0.of(key) }
  }

  /// Forgets why responses were not stored.
  func forgetRefusals() { recentRefusals.withLock { $0 = RecentRefusals(limit: 256) } }

  /// Takes the right to add to a partial response.
  ///
  /// - Returns: false if somebody else has it.
  func beginExtension(of sequence: UInt64) -> Bool {
    extended.withLock { $0.insert(sequence).inserted }
  }

  /// Gives it back.
  func endExtension(of sequence: UInt64) { extended.withLock { _ = $0.remove(sequence) } }

  /// Replaces the record of a stored response and keeps its body.
  ///
  /// - Throws: nothing.
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    updateRecord(record)
  }

  /// Bytes and responses in use; the bytes of bodies that are being written count.
  public var usage: StoreUsage {
    StoreUsage(
      memoryBytes: used.load(ordering: .relaxed) + inFlight.load(ordering: .relaxed),
      memoryCapacity: capacity.load(ordering: .relaxed),
      memoryEntries: entryCount.load(ordering: .relaxed))
  }

  /// Adds to the counters.
  public func count(_ counts: CacheCounts) { counters.withLock { $0 += counts } }

  /// The counters; they last as long as the store.
  ///
  /// - Throws: nothing.
  public func counts() async throws(CacheError) -> CacheCounts { counters.withLock { $0 } }

  /// Changes the capacity in bytes and evicts down to it. What is pinned stays.
  ///
  /// - Throws: nothing.
  public func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    guard let memory else { return }
    capacity.store(max(0, memory), ordering: .relaxed)
    trimMemory(to: memory)
  }

  /// Nothing is batched.
  public func flush() async {}

  /// Evicts down to `bytes`, as when the system runs out of memory; the capacity stays. What is
  /// pinned stays.
  public func trimMemory(to bytes: Int64) {
    evictExcess(over: max(0, bytes), sparing: nil)
    compact()
  }

  /// The part of the store that a key belongs to.
  func shard(of key: CacheKey) -> MemoryShard { shards[Int(key.processHash >> 60)] }

  /// Where a tier begins to number what is only in its memory: above the numbers of any index below, so that a
  /// number tells one response of a key.
  static let firstSequenceOfTier: UInt64 = 1 << 62

  /// Numbers what is stored from now on from some number on.
  func beginSequence(at first: UInt64) { lastSequence.max(first, ordering: .relaxed) }

  /// A number higher than all before.
  func nextSequence() -> UInt64 { lastSequence.add(1, ordering: .relaxed).newValue }

  /// Whether a writer may collect more, whose body can be had elsewhere: all such bodies together take a quarter
  /// of the capacity at most, unless there is only one.
  ///
  /// - Parameter own: bytes that it has collected.
  func mayCollect(_ bytes: Int64, having own: Int64) -> Bool {
    let all = inFlight.load(ordering: .relaxed)
    return all <= own || all + bytes <= capacityNow / 4
  }

  /// Takes note of what came into a shard, or went.
  func account(bytes: Int64, variants: Int) {
    used.add(bytes, ordering: .relaxed)
    entryCount.add(variants, ordering: .relaxed)
  }

  /// Bytes above `limit`: those stored, and those of bodies being written beyond `freeInFlight`.
  ///
  /// - Parameter own: bytes of bodies being written that do not count, because they are about to be stored.
  func excess(over limit: Int64, without own: Int64 = 0) -> Int64 {
    let growing = inFlight.load(ordering: .relaxed) - own
    return used.load(ordering: .relaxed) + max(0, growing - Self.freeInFlight) - limit
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

  /// Counts bytes no longer that were promised to a body, or written of it.
  func takeBack(promised bytes: Int64, written: Int64) {
    promised.subtract(bytes, ordering: .relaxed)
    inFlight.subtract(written, ordering: .relaxed)
  }

  /// The capacity in bytes.
  var capacityNow: Int64 { capacity.load(ordering: .relaxed) }

  /// See `EvictionPolicy.inflation`.
  var inflation: Double { Double(bitPattern: inflationBits.load(ordering: .relaxed)) }

  /// Raises `inflation`.
  func raiseInflation(to priority: Double) {
    inflationBits.max(priority.bitPattern, ordering: .relaxed)
  }

  private static func randomKey() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
