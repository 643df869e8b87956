public import HTTPCacheSemantics

extension MemoryStore: TierBase {
  /// Counts uses.
  package func recordUses(_ uses: [KeyUses]) {
    for uses in uses { for _ in 0..<uses.count { _ = use(uses.key) } }
  }

  /// The variants stored for a key.
  ///
  /// - Throws: nothing.
  public func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    group(key)?.variants ?? []
  }

  /// Takes copies of all responses that the store below has for a key, if the policy admits them.
  func adopt(_ key: CacheKey, _ copies: [(CacheRecord, BodyBytes)], generation: UInt64) {
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
  ///   - isCurrent: whether the copies of a key with this generation match the store below.
  func keepCopies(taking ticket: InvalidationTicket, where isCurrent: (CacheKey, UInt64) -> Bool) {
    for (key, _) in groups(.all) {
      change(key) { group in
        guard let generation = group.generation, isCurrent(key, generation) else { return }
        group.keepCopies(taking: ticket) { nextSequence() }
      }
    }
  }
}
