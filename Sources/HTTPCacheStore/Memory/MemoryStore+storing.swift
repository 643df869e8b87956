import HTTPCacheSemantics
import Synchronization

extension MemoryStore {
  /// Stores a response.
  ///
  /// - Parameters:
  ///   - variantLimit: the maximum number of variants of the key.
  ///   - part: the sequence number of the stored part that the response replaces; nil if it extends none.
  ///   - reservation: the reservation of its body, released once the bytes count as stored.
  ///   - source: the store that gave the ticket; nil if it is this one.
  /// - Returns: its record as stored, with its sequence number.
  /// - Throws: `CacheError.tooLarge`, `CacheError.superseded`, `CacheError.wiped`, `CacheError.noSpace` if all other
  ///   entries are pinned, `CacheError.unavailable` if the part is no longer stored.
  func commit(
    _ record: CacheRecord, body bytes: BodyBytes, variantLimit: Int = .max, extending part: UInt64? = nil,
    from reservation: MemoryReservation? = nil, ticketOf source: (any CacheStore)? = nil
  ) throws(CacheError) -> CacheRecord {
    // A part that is still a part after it was extended keeps its number.
    let kept = record.isComplete ? nil : part
    let record = record.with(sequence: kept ?? nextSequence())
    let cost = record.memoryCost + Int64(bytes.count)
    guard Int64(bytes.count) <= largestEntry, cost <= capacityNow else {
      throw CacheError(.tooLarge, "\(cost) bytes, of \(capacityNow) in all", key: record.key)
    }
    var stored = record
    var refusal: CacheError?
    func mayStore(in group: MemoryGroup) -> Bool {
      let new = compared(record)
      stored = new
      if source?.isWiped(record) ?? isWiped(record) {
        refusal = .wiped(record.key)
      } else if let part, group.partial(part) == nil {
        refusal = CacheError(.unavailable, "the part is not stored any more", key: record.key)
      } else if group.supersedes(new) {
        refusal = Self.superseded(record)
      } else {
        refusal = nil
      }
      return refusal == nil
    }
    let placement = place(record.key, from: reservation) { group in
      guard mayStore(in: group) else { return }
      stored = stored.madeVisible()
      let variant = StoredVariant(record: stored, body: MemoryBody(bytes, record: record))
      if let part {
        group.extend(part, with: variant, cost: cost)
      } else {
        group.put(variant, cost: cost, limit: variantLimit)
      }
    } otherwise: { group in
      // The response that it replaces is out of date, whether the new one is stored or not.
      if mayStore(in: group) { group.remove { $0.sequence == part || record.replaces($0) } }
    }
    if let refusal { throw refusal }
    switch placement {
    case .stored: return stored
    case .refused:
      count(CacheCounts(evictions: 1))
      return stored.with(sequence: 0)
    case .noRoom: throw CacheError(.noSpace, "everything else in memory is pinned", key: record.key)
    }
  }

  static func superseded(_ record: CacheRecord) -> CacheError {
    CacheError(.superseded, "it was asked for while this one was on its way", key: record.key)
  }

  /// The record as it becomes visible: invalidated if its request was overtaken. Called with the lock of the
  /// shard held, so that an invalidation either finds the response or is noted here.
  private func compared(_ record: CacheRecord) -> CacheRecord {
    guard !record.response.isInvalidated, let ticket = record.ticket,
      isOvertaken(record.key, groups: record.groups, since: ticket)
    else { return record }
    return record.with(response: record.response.marked(as: .invalidated))
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

extension MemoryStore {
  /// Bytes of bodies being written that evict no entry: as much as one transfer keeps for its readers.
  static let freeInFlight: Int64 = 1 << 20

  /// Counts bytes of a body that is being written. Evicts entries that the response may displace if needed.
  ///
  /// - Parameters:
  ///   - bodySize: the known bytes of the body: the announced length, or the appended bytes including `bytes`.
  ///   - keepsStored: whether the responses stored for the key must stay.
  /// - Returns: false if too few bytes can be freed; then none are counted.
  func collect(
    _ bytes: Int64, of record: CacheRecord, bodySize: Int64, keepsStored: Bool
  ) -> Bool {
    // Count first: two writers at the same time then see each other's bytes, and the limit holds.
    addInFlight(bytes)
    let need = excess(over: capacityNow)
    if need <= 0 { return true }
    let key = record.key
    let inflation = inflation
    let bound = shard(of: key).state.withLock {
      $0.admissionBound(of: record, size: bodySize, inflation: inflation)
    }
    if isFree(need, bound: bound, sparing: key) {
      evictExcess(over: capacityNow, sparing: key)
      return true
    }
    // The response replaces the one stored for its key, so that one may be evicted before.
    if !keepsStored, isFree(need, bound: bound, sparing: nil) {
      evictExcess(over: capacityNow, sparing: nil)
      return true
    }
    addInFlight(-bytes)
    // As in `place`: a refusal counts like an eviction, or entries that were popular once would stay for ever.
    if bound < .infinity { raiseInflation(to: bound) }
    return false
  }
}
