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
    await distrustBelow(record)
    let own = CacheRecord(
      key: record.key, response: response, bodyLength: Int64(bytes.count), storedRanges: nil,
      groups: record.groups, userInfo: record.userInfo, isSeed: record.isSeed, isPinned: record.isPinned,
      isMemoryOnly: true, ticket: record.ticket)
    return try memory.commit(own, body: bytes, variantLimit: variantLimit, from: reservation)
  }

  /// Marks what the store below has for the same nominated fields as invalidated: it is older. It is passed
  /// over as long as memory has the newer response; after that it must at least be validated.
  private func distrustBelow(_ new: CacheRecord) async {
    do {
      let older = try variantsBelow(new.key).filter {
        $0.record.response.nominated == new.response.nominated
      }
      for variant in older {
        try await base.invalidate(.variant(new.key, sequence: variant.record.sequence))
      }
      if !older.isEmpty { raiseGeneration(of: new.key) }
    } catch {
      report("invalidate", error)
    }
  }
}
