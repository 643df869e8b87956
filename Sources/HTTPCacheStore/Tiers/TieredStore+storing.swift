import HTTPCacheSemantics
import HTTPTypes

extension TieredStore {
  /// Makes a response visible in memory after the store below has committed it.
  ///
  /// - Parameter bytes: its body, if it was copied.
  func didCommit(_ stored: CacheRecord, body bytes: BodyBytes?) {
    raiseGeneration(of: stored.key)
    if memory.group(stored.key)?.hasMemoryOnly ?? false {
      memory.change(stored.key) { group in
        if !group.supersedes(stored) { group.remove { $0.isMemoryOnly && stored.replaces($0) } }
      }
    }
    if let bytes {
      if !adoptOnly(stored, body: bytes) {
        refresh(stored.key, sequence: stored.sequence, bytes: bytes)
      }
    } else {
      memory.dropCopies(of: stored.key)
    }
  }

  /// Copies a response that is the only one of its key, without reading the store below again: that had nothing for the
  /// key before, and nothing of it has changed since but by this commit.
  ///
  /// - Parameter stored: the record as the store below committed it.
  /// - Returns: whether that is known.
  private func adoptOnly(_ stored: CacheRecord, body bytes: BodyBytes) -> Bool {
    let generation = generation(of: stored.key)
    // A commit raises the generation of the store below and that of this tier, by one each.
    guard stored.sequence != 0, stored.isComplete, stored.bodyLength == Int64(bytes.count),
      absences?.contains(stored.key, generation: generation &- 2) == true,
      memory.group(stored.key) == nil
    else { return false }
    memory.adopt(stored.key, [(stored, bytes)], generation: generation)
    return true
  }

  /// Stores a response only in memory.
  ///
  /// - Throws: `CacheError.damaged` for a body that is not as long as announced; `CacheError.superseded` if
  ///   either tier has a more recent response; what the memory store throws.
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
    return try memory.commit(own, body: bytes, variantLimit: variantLimit, from: reservation)
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
