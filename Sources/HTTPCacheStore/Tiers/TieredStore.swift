public import HTTPCacheSemantics
import Synchronization

/// A memory tier over another store, usually one on disk: it answers from copies of small bodies while they
/// match the store below.
///
/// Each write, freshening, invalidation and removal is made in the store below first, then in memory. Copies carry
/// the generation (`GenerationSource`) for which they are known to be all, and are no longer used once something of
/// their key has changed, in whichever process. The variants of a key are copied together or not at all.
///
/// If the store below fails to store a response, memory keeps the only copy, if it can, and `onFailure` is
/// called. This copy is found before variants of the store below with equal nominated fields.
public final class TieredStore: StoreLayer {
  let memory: MemoryStore
  /// The store below.
  public let base: any CacheStore
  let tierBase: (any TierBase)?
  /// Nil if nothing tells of changes of the store below.
  let baseGenerations: (any GenerationSource)?
  let ownGenerations = ChangeCounters()
  let untoldCounts = CollectedCounts()
  private let onFailure: (@Sendable (String, CacheError) -> Void)?
  private let promotionLimit: Int64
  /// Whether the capacity of the store below was set to 0: memory then goes on alone.
  let isBaseOff = Atomic<Bool>(false)

  /// Makes a tier over `base`.
  ///
  /// - Parameters:
  ///   - memory: an empty store that only this tier uses.
  ///   - base: the store below. If several processes or tiers share it, it must be a `GenerationSource`; it
  ///     should be a `TierBase`.
  ///   - promotionLimit: the longest body that is copied into memory, in bytes.
  ///   - onFailure: called when `base` failed and this store continues without it: the name of the operation,
  ///     and the error.
  public init(
    memory: MemoryStore, base: any CacheStore, promotionLimit: Int64 = 1 << 20,
    onFailure: (@Sendable (String, CacheError) -> Void)? = nil
  ) {
    self.memory = memory
    self.base = base
    self.promotionLimit = promotionLimit
    self.onFailure = onFailure
    tierBase = base as? any TierBase
    baseGenerations = base as? any GenerationSource
    memory.beginSequence(at: MemoryStore.firstSequenceOfTier)
  }

  /// The longest body that is copied into memory, in bytes.
  var longestCopy: Int64 { min(promotionLimit, memory.largestEntry) }

  /// The variants in memory, if they are complete and match the store below; else nil.
  public func peek(_ key: CacheKey) -> [StoredVariant]? {
    useCurrent(key, generation: generationBelow(of: key))
  }

  /// The variants in memory, if they are complete and match the store below. The store below is told of uses when there
  /// are many: a hit takes no lock of that store.
  private func useCurrent(_ key: CacheKey, generation: Generation) -> [StoredVariant]? {
    guard let group = use(key, generation: generation, at: memory.clock.now) else { return nil }
    return isOutdated(group) ? nil : group.variants
  }

  /// Counts a look-up of copies that match the store below, and returns them.
  private func use(_ key: CacheKey, generation: Generation, at time: Timestamp) -> MemoryGroup? {
    guard var found = memory.use(key, generation: generation, at: time) else { return nil }
    if !found.isCompared {
      guard isCurrent(found.group, of: key, at: generation), let copies = found.group.generation else {
        return nil
      }
      memory.didCompare(key, copies, upTo: generation.selections)
      guard let again = memory.use(key, generation: generation, at: time), again.isCompared else {
        return nil
      }
      found = again
    }
    if !found.uses.isEmpty { tierBase?.recordUses(found.uses) }
    return found.group
  }

  /// Whether the copies of a key match the store below: nothing of the key has changed since they were read, and no
  /// selection that was noted since includes one of them.
  func isCurrent(_ group: MemoryGroup, of key: CacheKey, at now: Generation) -> Bool {
    guard let copied = group.generation, copied.changes == now.changes else { return false }
    if group.compared >= now.selections { return true }
    let isSelected = group.variants.contains { variant in
      !variant.record.isMemoryOnly
        && baseGenerations?.hasSelected(key, groups: variant.record.groups, since: copied.selections) != false
    }
    // The store below may have other counters by now.
    return !isSelected && generationBelow(of: key).changes == now.changes
  }

  /// Tells the store below of all uses and counts that memory has collected.
  func tellBase() {
    let uses = memory.takeUntoldUses()
    if !uses.isEmpty { tierBase?.recordUses(uses) }
    let counts = untoldCounts.take()
    if counts != CacheCounts() { base.count(counts) }
  }

  /// The variants in memory, if they are complete and match the store below; else the variants of the store
  /// below.
  ///
  /// - Throws: `CacheError` of the store below, if memory has nothing for the key.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    let generation = generationBelow(of: key)
    if let variants = useCurrent(key, generation: generation) { return variants }
    let group = distrustOutdated(memory.use(key), of: key)
    if group == nil, baseGenerations?.isKnownAbsent(key) == true {
      tierBase?.recordUses([KeyUses(of: key, count: 1, last: memory.clock.now)])
      return []
    }
    let own = group?.variants.filter(\.record.isMemoryOnly) ?? []
    do {
      let below = try base.read(key)
      if below.isEmpty, group == nil { return [] }
      let promotion = Promotion(key, of: below, over: group, generation: generation, tier: self)
      finish(promotion, over: group)
      // The promotion leaves out the variants that `own` replaces.
      let others = promotion.variants
      if own.isEmpty { return others }
      return (own + others).sorted { $0.record.response.responseTime > $1.record.response.responseTime }
    } catch {
      if own.isEmpty { throw error }
      report("read", error)
      return own
    }
  }

  /// Begins to store a response in the store below, and in memory if it is small.
  ///
  /// - Throws: `CacheError.tooLarge`; `CacheError.notAdmitted` for a response that would be only in memory if
  ///   other bodies that are being written need the memory; what the store below throws, if memory cannot
  ///   keep the only copy.
  public func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    var record = record.with(ticket: record.ticket ?? ticket())
    // Another process may have turned the store below on again.
    if isBaseOff.load(ordering: .relaxed), base.usage.diskCapacity == 0 {
      record = record.with(isMemoryOnly: true)
    }
    if record.isMemoryOnly {
      // A part that is only in memory needs no copy; for a whole body see TieredWriter.
      if !record.isComplete {
        return try MemoryWriter(record, variantLimit: variantLimit, store: memory, ticketOf: base)
      }
      return try TieredWriter(record, variantLimit: variantLimit, base: nil, tier: self)
    }
    let writer: any BodyWriter
    do {
      writer = try await base.write(record, variantLimit: variantLimit)
    } catch {
      if error.code == .tooLarge { throw error }
      report("write", error)
      do {
        return try TieredWriter(record, variantLimit: variantLimit, base: nil, tier: self)
      } catch _ {
        throw error
      }
    }
    return try TieredWriter(record, variantLimit: variantLimit, base: writer, tier: self)
  }

  /// Begins to add to a partial response, in the store below unless it is only in memory. Memory has no
  /// copies of parts.
  ///
  /// - Throws: what the store that has the part throws.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    if record.isMemoryOnly {
      let record = record.with(ticket: record.ticket ?? ticket())
      return try MemoryWriter(extending: record, at: offset, store: memory, ticketOf: base)
    }
    let writer = try await base.extend(record, at: offset)
    return try TieredWriter(record, variantLimit: .max, base: writer, tier: self, isExtension: true)
  }

  /// Replaces the record of a stored response and keeps its body.
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    if record.isMemoryOnly { return memory.updateRecord(record) }
    guard try await base.update(record) else {
      // A response that the store below no longer has cannot be freshened: it has to be fetched again.
      memory.dropCopies(of: record.key)
      return false
    }
    raiseGeneration(of: record.key)
    refresh(record.key, sequence: 0, bytes: nil)
    return true
  }

  /// The generation of a key for copies: rises when they may no longer match the store below.
  func generationBelow(of key: CacheKey) -> Generation {
    var generation = baseGeneration(of: key)
    generation.changes &+= ownGenerations.generation(of: key.processHash)
    return generation
  }

  /// The generation of a key in the store below.
  func baseGeneration(of key: CacheKey) -> Generation {
    baseGenerations?.generation(of: key) ?? Generation(changes: 0)
  }

  /// Makes the copies of a key out of date.
  func raiseGeneration(of key: CacheKey) { ownGenerations.raise(key.processHash) }

  /// Whether another process may have invalidated or removed a response that is only in memory, after its
  /// request.
  private func isOutdated(_ record: CacheRecord) -> Bool {
    guard record.isMemoryOnly else { return false }
    guard let ticket = record.ticket else { return true }
    return base.isOvertaken(record.key, groups: record.groups, since: ticket)
  }

  private func isOutdated(_ group: MemoryGroup) -> Bool {
    group.hasMemoryOnly && group.variants.contains { isOutdated($0.record) }
  }

  /// Invalidates responses that are only in memory if another process may have invalidated or removed
  /// them: the store below does not have them, so the generation does not tell.
  ///
  /// - Parameter group: the variants in memory for the key.
  /// - Returns: the variants afterwards.
  private func distrustOutdated(_ group: MemoryGroup?, of key: CacheKey) -> MemoryGroup? {
    guard let group, isOutdated(group) else { return group }
    // Take the ticket before the comparison, so that later changes are not missed.
    let now = ticket()
    memory.change(key) { group in
      group.remove { $0.isMemoryOnly && base.isWiped($0) }
      group.mark(as: .invalidated, taking: now) { isOutdated($0) }
    }
    return memory.group(key)
  }

  /// Copies again the variants that the store below has for a key, if their bodies are in memory.
  ///
  /// - Parameters:
  ///   - sequence: the sequence number of a response whose body is `bytes`.
  func refresh(_ key: CacheKey, sequence: UInt64, bytes: BodyBytes?) {
    let generation = generationBelow(of: key)
    let group = distrustOutdated(memory.group(key), of: key)
    do {
      let promotion = Promotion(
        key, of: try variantsBelow(key), over: group, generation: generation, tier: self)
      if let bytes { promotion.deliver(bytes, ofSequence: sequence) }
      finish(promotion, over: group)
    } catch {
      report("read", error)
      memory.dropCopies(of: key)
    }
  }

  // Copies what can be copied at once; drops copies that can no longer be complete.
  private func finish(_ promotion: Promotion, over group: MemoryGroup?) {
    if promotion.isPossible {
      if group != nil || !promotion.isEmpty { promotion.adoptIfComplete() }
    } else if group != nil {
      memory.dropCopies(of: promotion.key)
    }
  }

  /// Reports an error that this store continues without.
  func report(_ operation: String, _ error: CacheError) { onFailure?(operation, error) }
}

extension TieredStore: GenerationSource, UseCounter {
  /// Rises with each change of the responses of a key, in memory or in the store below; but not with an invalidation
  /// in the store below of responses that are only in memory.
  package func generation(of key: CacheKey) -> Generation {
    var generation = generationBelow(of: key)
    generation.changes &+= memory.generation(of: key).changes
    return generation
  }

  package func hasSelected(_ key: CacheKey, groups: [String], since selections: UInt64) -> Bool {
    baseGenerations?.hasSelected(key, groups: groups, since: selections) ?? false
  }

  package func isKnownAbsent(_ key: CacheKey) -> Bool {
    memory.isKnownAbsent(key) && baseGenerations?.isKnownAbsent(key) == true
  }

  /// Counts uses of copies in memory.
  package func recordUses(_ uses: [KeyUses]) {
    for uses in uses {
      let generation = generationBelow(of: uses.key)
      for _ in 0..<uses.count {
        if use(uses.key, generation: generation, at: uses.last) == nil { break }
      }
    }
  }
}
