import HTTPCacheSemantics

/// The variants of one key in memory. They are evicted together, so that a group is always complete.
struct MemoryGroup: Sendable {
  /// The variants, most recently stored first.
  private(set) var variants: [StoredVariant] = []
  /// The bytes of each variant.
  private var costs: [Int64] = []
  /// The bytes of all variants.
  private(set) var size: Int64 = 0
  /// The position in the order of eviction; nil while it is pinned or not yet stored.
  var position: EvictionOrder<CacheKey>.Position?
  /// When it was last used.
  private(set) var lastUsed: Timestamp
  /// The uses that the store below has not been told of.
  var untoldUses = 0
  /// The generation of the store below before these copies were read; nil if not all its responses were copied.
  private(set) var generation: Generation?
  /// The number of the last selection of the store below that is known not to include the copies.
  private(set) var compared: UInt64 = 0

  init(lastUsed: Timestamp) { self.lastUsed = lastUsed }

  var isEmpty: Bool { variants.isEmpty }

  /// Notes a use, which may be told later than a more recent one.
  mutating func noteUse(at time: Timestamp) { lastUsed = max(lastUsed, time) }

  /// Notes that no selection of the store below up to a number includes the copies.
  ///
  /// - Parameter copies: their generation; there may be others by now.
  mutating func didCompare(_ copies: Generation, upTo selections: UInt64) {
    if generation == copies { compared = max(compared, selections) }
  }

  /// Whether any variant is stored only here, and not in the store below.
  var hasMemoryOnly: Bool { variants.contains { $0.record.isMemoryOnly } }

  var isPinned: Bool { variants.contains { $0.record.isPinned } }

  /// Puts a variant first, in place of the one it replaces, and drops the oldest beyond `limit`. A part of
  /// another response never replaces a complete variant.
  mutating func put(_ variant: StoredVariant, cost: Int64, limit: Int = .max) {
    remove { variant.record.replaces($0) }
    variants.insert(variant, at: 0)
    costs.insert(cost, at: 0)
    size += cost
    while variants.count > max(1, limit) {
      let oldest = variants.indices.dropFirst().last {
        variants[$0].record.response.nominated != variant.record.response.nominated
      }
      guard let oldest else { return }
      remove(at: oldest)
    }
  }

  /// Replaces the partial variant with this sequence number, if it is stored; a complete variant goes first.
  mutating func extend(_ sequence: UInt64, with variant: StoredVariant, cost: Int64) {
    guard let index = partialIndex(of: sequence) else { return }
    if variant.record.isComplete {
      remove(at: index)
      return put(variant, cost: cost)
    }
    size += cost - costs[index]
    costs[index] = cost
    variants[index] = variant
    let new = variant.record
    remove { $0 !== new && new.replaces($0) }
  }

  /// The partial variant with this sequence number.
  func partial(_ sequence: UInt64) -> StoredVariant? {
    partialIndex(of: sequence).map { variants[$0] }
  }

  private func partialIndex(of sequence: UInt64) -> Int? {
    variants.firstIndex { !$0.record.isComplete && $0.record.sequence == sequence }
  }

  /// Whether a complete response is stored that the response to an earlier request must not replace.
  func supersedes(_ record: CacheRecord) -> Bool {
    variants.contains { record.isSuperseded(by: $0.record) }
  }

  /// Takes copies of all responses of the store below. A response that is only here stays, in place of a copy
  /// with equal nominated fields.
  mutating func adopt(_ copies: [StoredVariant], costs copyCosts: [Int64], generation: Generation) {
    dropCopies()
    let own = variants.map(\.record)
    for (copy, cost) in zip(copies, copyCosts)
    where !own.contains(where: { $0.replaces(copy.record) }) {
      variants.append(copy)
      costs.append(cost)
      size += cost
    }
    self.generation = generation
    compared = generation.selections
    guard !own.isEmpty else { return }
    let order = variants.indices.sorted {
      variants[$0].record.response.responseTime > variants[$1].record.response.responseTime
    }
    variants = order.map { variants[$0] }
    costs = order.map { costs[$0] }
  }

  /// Drops the copies of responses of the store below.
  mutating func dropCopies() {
    remove { !$0.isMemoryOnly }
    generation = nil
  }

  /// Makes the copies responses that are only here.
  mutating func keepCopies(taking ticket: InvalidationTicket, number: () -> UInt64) {
    for index in variants.indices where !variants[index].record.isMemoryOnly {
      let old = variants[index]
      let record = old.record.with(isMemoryOnly: true, ticket: ticket).with(sequence: number())
      variants[index] = StoredVariant(record: record, body: old.body)
    }
    generation = nil
  }

  /// Gives the variant with this sequence number another record, unless a more recent response freshened it
  /// since the record's request was sent. Keeps the body.
  ///
  /// - Parameter isInvalidated: whether the caller invalidated the record, and it is not only overtaken: the
  ///   variant is then invalidated in any case.
  /// - Returns: whether the variant is stored and has the record.
  mutating func update(_ record: CacheRecord, isInvalidated: Bool) -> Bool {
    let index = variants.firstIndex {
      $0.record.sequence == record.sequence && $0.record.isMemoryOnly == record.isMemoryOnly
    }
    guard let index else { return false }
    let old = variants[index]
    if record.isOutOfDate(besides: old.record) {
      if isInvalidated { mark(as: .invalidated) { $0 === old.record } }
      return false
    }
    var new = record.storing(old.record.storedRanges, bodyLength: old.record.bodyLength)
    if record.ticket == nil { new = new.with(response: new.response.marked(like: old.record.response)) }
    new = new.madeVisible()
    let cost = costs[index] - old.record.memoryCost + new.memoryCost
    size += cost - costs[index]
    costs[index] = cost
    variants[index] = StoredVariant(record: new, body: old.body)
    remove { $0 !== new && new.replaces($0) && $0.isComplete == new.isComplete }
    return true
  }

  /// Marks the variants that match.
  ///
  /// - Parameter ticket: the new ticket of these variants; nil keeps their tickets.
  mutating func mark(
    as mark: StoredResponse.Mark, taking ticket: InvalidationTicket? = nil,
    where matches: (CacheRecord) -> Bool
  ) {
    for index in variants.indices where matches(variants[index].record) {
      let old = variants[index]
      let record = old.record.with(response: old.record.response.marked(as: mark), ticket: ticket)
      variants[index] = StoredVariant(record: record, body: old.body)
    }
  }

  /// Removes the variants that match.
  mutating func remove(where matches: (CacheRecord) -> Bool) {
    for index in variants.indices.reversed() where matches(variants[index].record) {
      remove(at: index)
    }
  }

  /// The variants, each with its bytes.
  var entries: Zip2Sequence<[StoredVariant], [Int64]> { zip(variants, costs) }

  private mutating func remove(at index: Int) {
    variants.remove(at: index)
    size -= costs.remove(at: index)
  }
}
