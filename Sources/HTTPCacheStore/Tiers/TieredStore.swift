public import HTTPCacheSemantics

/// A memory tier over another store, in practice one on disk: it answers from copies of small bodies
/// while they are what the store below has.
///
/// The store below comes first: what is written, freshened, marked or removed is so there, then in
/// memory. Copies carry the generation (`GenerationSource`) that was read before what they were made
/// from, and are no longer used once it has changed, whoever changed it. The variants of a key are
/// copied together or not at all.
///
/// Where the store below fails to store a response, memory keeps it alone, if it can, and `onFailure`
/// is told. It is found before what the store below has for the same nominated fields.
public final class TieredStore: CacheStore {
  let memory: MemoryStore
  let base: any CacheStore
  private let tierBase: (any TierBase)?
  private let baseGenerations: (any GenerationSource)?
  private let ownGenerations = GenerationCounters()
  private let onFailure: (@Sendable (String, CacheError) -> Void)?
  private let promotionLimit: Int64

  /// Makes a tier over `base`.
  ///
  /// - Parameters:
  ///   - memory: the tier's own, empty store, used by nobody else.
  ///   - base: the store below. If several processes or tiers share it, it has to be a
  ///     `GenerationSource`; it should be a `TierBase`.
  ///   - promotionLimit: the longest body that is copied into memory, in bytes.
  ///   - onFailure: told what failed in `base` where this store goes on without it: a word for the
  ///     operation, and the error.
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

  /// What memory has, if it is complete and still what the store below has; else `.unknown`.
  public func peek(_ key: CacheKey) -> PeekResult {
    guard let group = memory.use(key, generation: generation(of: key)), !isOutdated(group, key) else {
      return .unknown
    }
    tierBase?.recordUse(of: key)
    return .found(group.variants)
  }

  /// What memory has, if it is complete and still what the store below has; else what that has.
  ///
  /// - Throws: `CacheError` of the store below, if memory has nothing for the key.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    let generation = generation(of: key)
    var group = memory.use(key)
    if let group, group.generation == generation, !isOutdated(group, key) {
      tierBase?.recordUse(of: key)
      return group.variants
    }
    group = distrustOutdated(group, of: key)
    let own = group?.variants.filter(\.record.isMemoryOnly) ?? []
    do {
      let promotion = Promotion(
        key, of: try base.read(key), over: group, generation: generation, tier: self)
      finish(promotion, over: group)
      return Self.merge(own: own, below: promotion.variants)
    } catch {
      if own.isEmpty { throw error }
      report("read", error)
      return own
    }
  }

  /// Begins to store a response in the store below, and in memory if it is small.
  ///
  /// - Throws: `CacheError.tooLarge`; `CacheError.notAdmitted` for a response in memory alone if other bodies
  ///   that are being written need the memory; what the store below throws, if memory cannot keep the response
  ///   alone.
  public func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    let record = record.with(ticket: record.ticket ?? ticket())
    if record.isMemoryOnly {
      // What is only in memory needs no copy; a whole body makes what is below older, see TieredWriter.
      if !record.isComplete { return try await memory.write(record, variantLimit: variantLimit) }
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

  /// Begins to add to a part of a response, in the store below unless it is only in memory. Memory has
  /// no copies of parts.
  ///
  /// - Throws: what the tier throws that has the part.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    if record.isMemoryOnly { return try await memory.extend(record, at: offset) }
    return TieredExtension(try await base.extend(record, at: offset), tier: self)
  }

  /// Replaces the record of a stored response and keeps its body.
  ///
  /// - Throws: what the store below throws.
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    if record.isMemoryOnly { return memory.updateRecord(record) }
    guard try await base.update(record) else {
      // What the store below no longer has cannot be freshened: it has to be fetched again.
      memory.dropCopies(of: record.key)
      return false
    }
    ownGenerations.raise(for: record.key.processHash)
    refresh(record.key, sequence: 0, bytes: nil)
    return true
  }

  /// Whether what was copied is still what the store below has.
  func generation(of key: CacheKey) -> UInt64 {
    ownGenerations.generation(of: key.processHash)
      &+ (baseGenerations?.generation(of: key) ?? 0)
  }

  /// Makes all copies of a key, or of all keys, out of date.
  func raiseGeneration(of key: CacheKey?) {
    if let key { ownGenerations.raise(for: key.processHash) } else { ownGenerations.raiseAll() }
  }

  /// The ticket of the store below.
  public func ticket() -> InvalidationTicket { base.ticket() }

  /// Asks the store below.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    base.isOvertaken(key, groups: groups, since: ticket)
  }

  /// Whether another process may have invalidated or removed a response that is only in memory since its
  /// request.
  private func isOutdated(_ record: CacheRecord) -> Bool {
    guard record.isMemoryOnly else { return false }
    guard let ticket = record.ticket else { return true }
    return base.isOvertaken(record.key, groups: record.groups, since: ticket)
  }

  private func isOutdated(_ group: MemoryGroup, _ key: CacheKey) -> Bool {
    group.hasMemoryOnly && group.variants.contains { isOutdated($0.record) }
  }

  /// Marks responses that are only in memory as invalidated if another process may have invalidated or
  /// removed them: the store below does not have them, so that no generation tells.
  ///
  /// - Parameter group: what memory has for the key.
  /// - Returns: what it has after that.
  private func distrustOutdated(_ group: MemoryGroup?, of key: CacheKey) -> MemoryGroup? {
    guard let group, isOutdated(group, key) else { return group }
    // Before it is compared again, so that nothing that comes later counts as noticed.
    let now = ticket()
    memory.change(key) { group in group.invalidate(taking: now) { isOutdated($0) } }
    return memory.group(key)
  }

  /// What the store below has for a key, without counting a use if it can be helped.
  func variantsBelow(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    if let tierBase { return try tierBase.variants(of: key) }
    return try base.read(key)
  }

  /// Copies anew what the store below has for a key, as far as the bodies are in memory.
  ///
  /// - Parameters:
  ///   - sequence: of a response whose body is known to be `bytes`.
  func refresh(_ key: CacheKey, sequence: UInt64, bytes: BodyBytes?) {
    let generation = generation(of: key)
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

  // Copies what can be copied at once; copies that can no longer be complete go.
  private func finish(_ promotion: Promotion, over group: MemoryGroup?) {
    if promotion.isPossible {
      if group != nil || !promotion.isEmpty { promotion.adoptIfComplete() }
    } else if group != nil {
      memory.dropCopies(of: promotion.key)
    }
  }

  /// Tells of an error that this store goes on without.
  func report(_ operation: String, _ error: CacheError) { onFailure?(operation, error) }

  private static func merge(own: [StoredVariant], below: [StoredVariant]) -> [StoredVariant] {
    if own.isEmpty { return below }
    let all = own + below.filter { lower in !own.contains { $0.record.replaces(lower.record) } }
    return all.sorted { $0.record.response.responseTime > $1.record.response.responseTime }
  }
}
