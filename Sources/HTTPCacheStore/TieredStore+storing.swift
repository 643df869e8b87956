import HTTPCacheSemantics
import HTTPTypes

extension TieredStore {
  /// Makes a response visible in memory that the store below has committed.
  ///
  /// - Parameter bytes: its body if it was kept.
  func didCommit(_ stored: CacheRecord, body bytes: BodyBytes?) {
    raiseGeneration(of: stored.key)
    if memory.group(stored.key)?.hasMemoryOnly ?? false {
      memory.change(stored.key) { group in
        group.remove { $0.isMemoryOnly && stored.replaces($0) }
      }
    }
    if let bytes {
      refresh(stored.key, sequence: stored.sequence, bytes: bytes)
    } else {
      memory.dropCopies(of: stored.key)
    }
  }

  /// Stores a response in memory alone.
  ///
  /// - Throws: `CacheError.damaged` for a body that is not as long as announced; what the memory
  ///   store throws.
  func commitToMemory(
    _ record: CacheRecord, trailers: HTTPFields, body bytes: BodyBytes, variantLimit: Int,
    from reservation: MemoryReservation
  ) async throws(CacheError) -> CacheRecord {
    if let announced = record.bodyLength, announced != Int64(bytes.count) {
      throw CacheError(
        .damaged, "\(announced) bytes were announced, \(bytes.count) came", key: record.key)
    }
    var response = record.response
    response.trailers = trailers
    let known = await distrustBelow(record)
    let own = CacheRecord(
      key: record.key, response: response, bodyLength: Int64(bytes.count), storedRanges: nil,
      groups: record.groups, userInfo: record.userInfo, isSeed: record.isSeed, isPinned: record.isPinned,
      isMemoryOnly: true, isResumable: false, sequence: 0, knownInvalidations: known)
    return try memory.commit(own, body: bytes, variantLimit: variantLimit, from: reservation)
  }

  /// What the store below has for the same nominated fields is older. It is passed over as long as memory has
  /// the newer one; after that it must at least be validated.
  ///
  /// - Returns: what the newer one knows of invalidations after this one.
  private func distrustBelow(_ new: CacheRecord) async -> UInt64? {
    let known = new.knownInvalidations
    do {
      let isOlderThere = try variantsBelow(new.key).contains {
        $0.record.response.nominated == new.response.nominated
      }
      guard isOlderThere else { return known }
      let before = invalidations(of: new.key)
      try await base.invalidate(.key(new.key))
      raiseGeneration(of: new.key)
      // A store raises it once within the transaction, and once after it; what is more came from others.
      guard let before, before == known, let after = invalidations(of: new.key), after &- before <= 2
      else { return known }
      return after
    } catch {
      report("invalidate", error)
      return known
    }
  }
}
