import HTTPCacheSemantics

extension MemoryStore {
  /// Stores a response.
  ///
  /// - Parameter reservation: the reservation of its body, released once the bytes count as stored.
  /// - Returns: its record as stored, with its sequence number.
  /// - Throws: `CacheError.tooLarge`, `CacheError.superseded`, `CacheError.noSpace` if all other entries are
  ///   pinned.
  func commit(
    _ record: CacheRecord, body bytes: BodyBytes, variantLimit: Int,
    from reservation: MemoryReservation? = nil
  ) throws(CacheError) -> CacheRecord {
    let record = record.with(sequence: nextSequence())
    let cost = record.memoryCost + Int64(bytes.count)
    guard Int64(bytes.count) <= largestEntry, cost <= capacityNow else {
      throw CacheError(.tooLarge, "\(cost) bytes, of \(capacityNow) in all", key: record.key)
    }
    var stored = record
    var isSuperseded = false
    let placement = place(record.key, from: reservation) { group in
      stored = compared(record)
      isSuperseded = group.supersedes(stored)
      if isSuperseded { return }
      stored = stored.madeVisible()
      let variant = StoredVariant(record: stored, body: MemoryBody(bytes, record: record))
      group.put(variant, cost: cost, limit: variantLimit)
    } otherwise: { group in
      // The response that it replaces is out of date, whether the new one is stored or not.
      isSuperseded = group.supersedes(compared(record))
      if !isSuperseded { group.remove { record.replaces($0) } }
    }
    if isSuperseded { throw Self.superseded(record) }
    try settle(placement, of: record)
    return stored
  }

  static func superseded(_ record: CacheRecord) -> CacheError {
    CacheError(.superseded, "it was asked for while this one was on its way", key: record.key)
  }

  /// Stores a response in place of its stored part.
  ///
  /// - Parameters:
  ///   - sequence: the sequence number of that part.
  ///   - reservation: the reservation of the added bytes, released once they count as stored.
  /// - Throws: `CacheError.unavailable` if the part is no longer stored; what `commit` throws.
  func commit(
    _ record: CacheRecord, body bytes: BodyBytes, extending sequence: UInt64,
    from reservation: MemoryReservation
  ) throws(CacheError) -> CacheRecord {
    let record = record.with(sequence: record.isComplete ? nextSequence() : sequence)
    let cost = record.memoryCost + Int64(bytes.count)
    guard Int64(bytes.count) <= largestEntry, cost <= capacityNow else {
      throw CacheError(.tooLarge, "\(cost) bytes, of \(capacityNow) in all", key: record.key)
    }
    var stored = record
    var (isThere, isSuperseded) = (false, false)
    let placement = place(record.key, from: reservation) { group in
      stored = compared(record)
      isThere = group.partial(sequence) != nil
      isSuperseded = isThere && group.supersedes(stored)
      if isSuperseded { return }
      stored = stored.madeVisible()
      let variant = StoredVariant(record: stored, body: MemoryBody(bytes, record: record))
      isThere = group.extend(sequence, with: variant, cost: cost)
    } otherwise: { group in
      isThere = group.partial(sequence) != nil
      isSuperseded = isThere && group.supersedes(compared(record))
      if !isSuperseded { group.remove { $0.sequence == sequence || record.replaces($0) } }
    }
    if isSuperseded { throw Self.superseded(record) }
    guard isThere else {
      throw CacheError(.unavailable, "the part is not stored any more", key: record.key)
    }
    try settle(placement, of: record)
    return stored
  }

  /// The record as it becomes visible: invalidated if its request was overtaken. Called with the lock of the
  /// shard held, so that an invalidation either finds the response or is noted here.
  private func compared(_ record: CacheRecord) -> CacheRecord {
    guard !record.response.isInvalidated, let ticket = record.ticket,
      isOvertaken(record.key, groups: record.groups, since: ticket)
    else { return record }
    return record.with(response: record.response.invalidated)
  }

  private func settle(_ placement: Placement, of record: CacheRecord) throws(CacheError) {
    switch placement {
    case .stored: break
    case .refused: count(CacheCounts(evictions: 1))
    case .noRoom:
      throw CacheError(.noSpace, "everything else in memory is pinned", key: record.key)
    }
  }

  /// Replaces the record of the response with its sequence number.
  ///
  /// - Returns: whether it is stored, and no more recent response freshened it meanwhile.
  func updateRecord(_ record: CacheRecord) -> Bool {
    var isUpdated = false
    change(record.key) {
      isUpdated = $0.update(compared(record), isInvalidated: record.response.isInvalidated)
    }
    if isUpdated { evictExcess(over: capacityNow, sparing: record.key) }
    return isUpdated
  }
}
