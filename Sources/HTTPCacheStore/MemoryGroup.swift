import HTTPCacheSemantics

/// The variants of one key in memory; they are evicted together, so that what is there is complete.
struct MemoryGroup: Sendable {
  /// The variants, the most recently stored first.
  private(set) var variants: [StoredVariant] = []
  /// What each variant takes in bytes.
  private var costs: [Int64] = []
  /// What all of them take in bytes.
  private(set) var size: Int64 = 0
  /// Where it is in the order of eviction; nil while it is pinned or not yet stored.
  var position: EvictionOrder<CacheKey>.Position?
  /// When it was last used.
  var lastUsed: Timestamp
  /// What the tier below had reached when these copies of its responses were made; nil if they are
  /// not all there is.
  var generation: UInt64?

  init(lastUsed: Timestamp) { self.lastUsed = lastUsed }

  var isEmpty: Bool { variants.isEmpty }

  var isPinned: Bool { variants.contains { $0.record.isPinned } }

  /// Puts a variant first, in place of one with equal nominated fields, and drops the oldest beyond
  /// `limit`.
  mutating func put(_ variant: StoredVariant, cost: Int64, limit: Int = .max) {
    remove { $0.response.nominated == variant.record.response.nominated }
    variants.insert(variant, at: 0)
    costs.insert(cost, at: 0)
    size += cost
    while variants.count > max(1, limit) { remove(at: variants.count - 1) }
  }

  /// Puts a variant last, which is taken to be older than all others.
  mutating func append(_ variant: StoredVariant, cost: Int64) {
    variants.append(variant)
    costs.append(cost)
    size += cost
  }

  /// Gives the variant of this sequence number another record; it keeps its body.
  ///
  /// - Returns: whether there is one.
  mutating func update(_ record: CacheRecord) -> Bool {
    guard let index = variants.firstIndex(where: { $0.record.sequence == record.sequence }) else {
      return false
    }
    let old = variants[index]
    let new = record.with(bodyLength: old.record.bodyLength)
    let cost = costs[index] - old.record.memoryCost + new.memoryCost
    size += cost - costs[index]
    costs[index] = cost
    variants[index] = StoredVariant(record: new, body: old.body)
    remove { $0.sequence != new.sequence && $0.response.nominated == new.response.nominated }
    return true
  }

  /// Marks variants that match as invalidated.
  ///
  /// - Returns: how many match.
  mutating func invalidate(where matches: (CacheRecord) -> Bool) -> Int {
    var marked = 0
    for index in variants.indices where matches(variants[index].record) {
      let old = variants[index]
      var response = old.record.response
      response.isInvalidated = true
      variants[index] = StoredVariant(record: old.record.with(response: response), body: old.body)
      marked += 1
    }
    return marked
  }

  /// Removes variants that match.
  ///
  /// - Returns: how many.
  @discardableResult
  mutating func remove(where matches: (CacheRecord) -> Bool) -> Int {
    var removed = 0
    for index in variants.indices.reversed() where matches(variants[index].record) {
      remove(at: index)
      removed += 1
    }
    return removed
  }

  /// The variants with what each one takes.
  var entries: Zip2Sequence<[StoredVariant], [Int64]> { zip(variants, costs) }

  private mutating func remove(at index: Int) {
    variants.remove(at: index)
    size -= costs.remove(at: index)
  }
}
