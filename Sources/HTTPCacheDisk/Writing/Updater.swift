import HTTPCacheSemantics
import HTTPCacheStore

/// Replaces the records of stored responses and keeps their bodies.
struct Updater: Sendable {
  let thread: IndexThread
  let trimmer: Trimmer

  /// Replaces the record of a stored response.
  ///
  /// - Returns: whether the response was still there.
  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    try await thread.run { [self] (opened) throws(CacheError) in
      let updated = try opened.write { (transaction) throws(CacheError) in
        let updated = try Self.update(opened.invalidatedIfOvertaken(record), in: &transaction)
        if record.response.isInvalidated { opened.noteInvalidation(.key(record.key)) }
        if updated != nil || record.response.isInvalidated { transaction.bumpGenerations(.key(record.key)) }
        return updated
      }
      guard let updated else { return false }
      opened.didCommit(updated.mark, record)
      // An entry that is no longer pinned may have to be evicted.
      if updated.wasPinned, !record.isPinned { trimmer.trimInBackground() }
      return true
    }
  }

  /// Updates the row of a record.
  ///
  /// - Returns: the number of the change, and whether the entry was pinned before; nil if the response is no longer
  ///   stored, or was freshened by a more recent response.
  private static func update(
    _ record: CacheRecord, in transaction: inout Transaction
  ) throws(CacheError) -> (mark: Int64, wasPinned: Bool)? {
    guard let found = try transaction.connection.entry(Int64(bitPattern: record.sequence)),
      let stored = found.record, stored.key == record.key
    else { return nil }
    if transaction.opened.isSuperseded(record, by: found) {
      if record.response.isInvalidated { try transaction.mark(found.row.id, as: .invalidated) }
      return nil
    }
    var record = record
    if record.ticket == nil { record = record.with(response: record.response.marked(like: stored.response)) }
    // A writer may have added to a partial body since the caller read the record.
    let kept = record.storing(
      stored.storedRanges, bodyLength: found.row.isPartial ? stored.bodyLength : found.row.length)
    try rewrite(found.row, with: kept, in: &transaction)
    return (transaction.state.sequence, found.row.isPinned)
  }

  /// Writes a record into an existing row, and deletes rows of the same variant.
  private static func rewrite(
    _ found: EntryRow, with record: CacheRecord, in transaction: inout Transaction
  ) throws(CacheError) {
    let connection = transaction.connection
    let encoded = try RecordCodec.encode(record)
    let variant = RecordCodec.variant(of: record)
    // The freshened response may now have the same variant as another row.
    for twin in try connection.entries(ofHash: found.hash)
    where twin.row.id != found.id && twin.row.isPartial == found.isPartial && twin.isOf(record.key)
      && twin.isOf(variant: variant)
    {
      try transaction.delete(twin.row)
    }
    let groups = Array(Set(record.groups))
    let size = NewEntry.size(encoded: encoded.count, length: found.length, cost: found.cost)
    try connection.update(
      found.id,
      [
        (.record, .blob(encoded)), (.variant, .hash(transaction.hashes.hash(ofVariant: variant))),
        (.mark, .integer(transaction.state.nextSequence())),
        (.invalid, .integer(EntryRow.state(of: record.response))),
        (.stored, .integer(record.response.responseTime.seconds)),
        (.pinned, .integer(record.isPinned ? 1 : 0)), (.groups, .integer(Int64(groups.count))),
        (.size, .integer(size)),
      ])
    if found.groups > 0 || !groups.isEmpty {
      try connection.run("DELETE FROM membership WHERE entry = ?", [.integer(found.id)])
      try connection.insertGroups(groups, of: record.key, id: found.id)
    }
  }
}
