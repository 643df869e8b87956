import HTTPCacheSemantics
import HTTPTypes

extension TieredStore {
  /// Makes a response visible in memory after the store below has committed it.
  ///
  /// - Parameters:
  ///   - bytes: its body, if it was copied.
  ///   - moment: what was told of the key before the commit.
  func didCommit(_ stored: CacheRecord, body bytes: BodyBytes?, since moment: Moment?) {
    raiseGeneration(of: stored.key)
    if memory.group(stored.key)?.hasMemoryOnly ?? false {
      memory.change(stored.key) { group in
        if !group.supersedes(stored) { group.remove { $0.isMemoryOnly && stored.replaces($0) } }
      }
    }
    if let bytes {
      if !adoptOnly(stored, body: bytes, since: moment) {
        refresh(stored.key, sequence: stored.sequence, bytes: bytes)
      }
    } else {
      memory.dropCopies(of: stored.key)
    }
  }

  /// A point in time, as the generations of a key tell it.
  struct Moment {
    /// The generation in the store below.
    let base: Generation
    /// The generation with the changes of the tier.
    let all: Generation
    /// Whether the store below had nothing for the key, as far as that was known.
    let isAbsent: Bool
  }

  /// The moment for a key now; nil if the store below tells of no changes.
  func moment(of key: CacheKey) -> Moment? {
    guard let baseGenerations else { return nil }
    let (base, all) = (baseGeneration(of: key), generationBelow(of: key))
    return Moment(base: base, all: all, isAbsent: baseGenerations.isKnownAbsent(key))
  }

  /// Copies a response that is the only one of its key, without reading the store below again: that had nothing for the
  /// key before, and nothing of it has changed since but by this commit.
  ///
  /// - Parameters:
  ///   - stored: the record as the store below committed it.
  ///   - moment: before the commit.
  /// - Returns: whether that is known.
  private func adoptOnly(_ stored: CacheRecord, body bytes: BodyBytes, since moment: Moment?) -> Bool {
    var generation = generationBelow(of: stored.key)
    // The commit has raised the generation of the store below and that of this tier, by one each.
    guard let moment, baseGeneration(of: stored.key).changes == moment.base.changes &+ 1,
      generation.changes == moment.all.changes &+ 2,
      stored.sequence != 0, stored.isComplete,
      stored.bodyLength == Int64(bytes.count),
      moment.isAbsent, memory.group(stored.key) == nil
    else { return false }
    // Selections since then are compared before the copy is used.
    generation.selections = moment.all.selections
    memory.adopt(stored.key, [(stored, bytes)], generation: generation)
    return true
  }

  /// Stores a response only in memory.
  ///
  /// - Throws: `CacheError.damaged` for a body that is not as long as announced; `CacheError.superseded` if
  ///   memory or the store below has a more recent response; `CacheError.wiped`; what the memory store throws.
  func commitToMemory(
    _ record: CacheRecord, trailers: HTTPFields, body bytes: BodyBytes, variantLimit: Int,
    from reservation: MemoryReservation
  ) async throws(CacheError) -> CacheRecord {
    if let announced = record.bodyLength, announced != Int64(bytes.count) {
      throw CacheError(
        .damaged, "\(announced) bytes were announced, \(bytes.count) came", key: record.key)
    }
    let older = try variantsToReplaceBelow(record)
    await distrustBelow(older, of: record.key)
    var response = record.response
    response.trailers = trailers
    let own = record.storing(nil, bodyLength: Int64(bytes.count)).with(response: response, isMemoryOnly: true)
    return try memory.commit(
      own, body: bytes, variantLimit: variantLimit, from: reservation, ticketOf: base)
  }

  /// Refuses a response that the store below is about to commit if memory has a more recent one that is only
  /// there.
  ///
  /// - Throws: `CacheError.superseded`.
  func requireNotSuperseded(_ record: CacheRecord) throws(CacheError) {
    if memory.group(record.key)?.supersedes(record) ?? false { throw MemoryStore.superseded(record) }
  }

  /// The variants below with the nominated fields of a response that will be only in memory.
  ///
  /// - Throws: `CacheError.superseded` if a complete one of them is more recent.
  private func variantsToReplaceBelow(_ new: CacheRecord) throws(CacheError) -> [StoredVariant] {
    let below: [StoredVariant]
    do throws(CacheError) { below = try variantsBelow(new.key) } catch {
      report("read", error)
      return []
    }
    let same = below.filter { $0.record.response.nominated == new.response.nominated }
    let isSuperseded = same.contains { variant in
      guard variant.record.isComplete, let ticket = new.ticket, variant.record.sequence > ticket.seen
      else { return false }
      return new.isOlder(than: variant.record, askedForAt: nil)
    }
    if isSuperseded { throw MemoryStore.superseded(new) }
    return same
  }

  /// The variants of the store below for a key, without counting a use if the store supports that.
  func variantsBelow(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    if let tierBase { return try tierBase.variants(of: key) }
    return try base.read(key)
  }

  /// Invalidates variants of the store below, because memory is about to have a newer response.
  /// While memory has it, they are not used; later they must at least be validated.
  private func distrustBelow(_ older: [StoredVariant], of key: CacheKey) async {
    do throws(CacheError) {
      for variant in older {
        try await base.invalidate(.variant(key, sequence: variant.record.sequence))
      }
      if !older.isEmpty { raiseGeneration(of: key) }
    } catch {
      report("invalidate", error)
    }
  }
}
