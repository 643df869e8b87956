import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// The rows that a new response replaces, and the reasons to refuse the response. Call all of this within the
/// transaction that stores the response.
extension DiskStore {
  /// The record as it must be stored: invalidated if any process invalidated or removed a matching selection
  /// after the request was sent (RFC 9111 §4.4).
  static func compared(_ record: CacheRecord, in opened: OpenDirectory) -> CacheRecord {
    guard !record.response.isInvalidated, let ticket = record.ticket,
      opened.generations.isOvertaken(record.key, groups: record.groups, since: ticket)
    else { return record }
    return record.with(response: record.response.invalidated)
  }

  /// The rows that an entry replaces, and the oldest variants beyond the limit. A partial body does not replace
  /// the whole body of its variant.
  ///
  /// - Parameter stored: the entries with the hash of the key.
  static func replaced(by entry: NewEntry, _ stored: [StoredEntry]) -> [EntryRow] {
    let variant = RecordCodec.variant(of: entry.record)
    var replaced: [EntryRow] = []
    // Rows of other variants, newest first. A whole body of the same variant is counted in `twins`.
    var others: [EntryRow] = []
    var twins = 0
    for found in stored.sorted(by: { $0.row.id > $1.row.id }) where found.isOf(entry.record.key) {
      if !found.isOf(variant: variant) {
        others.append(found.row)
      } else if entry.record.isComplete || found.row.isPartial {
        replaced.append(found.row)
      } else {
        twins += 1
      }
    }
    if entry.purpose == .unfinished { return replaced }
    return replaced + others.dropFirst(max(0, entry.variantLimit - 1 - twins))
  }

  /// Removes the row that the same body has had until now. The file stays if the new entry has the same file.
  ///
  /// - Throws: `CacheError.unavailable` if the row must still exist, and was removed.
  static func deletePredecessor(
    of entry: NewEntry, _ removals: inout Removals, _ connection: SQLiteConnection
  ) throws(CacheError) {
    guard let predecessor = entry.predecessor else { return }
    let found = try StoredEntry.find(
      StoredEntry.ofID, [.integer(predecessor.id)], connection
    ).entries.first { $0.row.isPartial }
    if predecessor.isRequired, found?.record == nil {
      throw CacheError(.unavailable, "the part is not stored any more", key: entry.record.key)
    }
    guard let row = found?.row else { return }
    try row.delete(connection)
    removals.add(row, keeping: entry.file)
  }

  /// Refuses a response if a more recent complete response with equal nominated fields was stored or freshened
  /// after the request was sent (RFC 9111 §4).
  ///
  /// - Parameters:
  ///   - record: the record, invalidated if its request was overtaken (`compared(_:in:)`).
  ///   - stored: the entries with the hash of the key.
  /// - Throws: `CacheError.superseded`.
  static func requireNotSuperseded(
    _ record: CacheRecord, by stored: [StoredEntry], in opened: OpenDirectory
  ) throws(CacheError) {
    let variant = RecordCodec.variant(of: record)
    let isSuperseded = stored.contains { found in
      !found.row.isPartial && found.record?.key == record.key && found.isOf(variant: variant)
        && Self.isSuperseded(record, by: found, in: opened)
    }
    if isSuperseded {
      throw CacheError(.superseded, "it was asked for while this one was on its way", key: record.key)
    }
  }

  /// Whether a stored entry is more recent than a response, and was stored or freshened after the request for
  /// this response was sent.
  static func isSuperseded(
    _ record: CacheRecord, by stored: StoredEntry, in opened: OpenDirectory
  ) -> Bool {
    guard let ticket = record.ticket, stored.row.mark > Int64(clamping: ticket.seen),
      let other = stored.record
    else { return false }
    return record.isOlder(than: other, askedForAt: opened.moment(of: other))
  }
}
