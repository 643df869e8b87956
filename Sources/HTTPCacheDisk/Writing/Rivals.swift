import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// The stored entries of the key of a new entry: which of them the new entry replaces, and the reasons to refuse the
/// new entry. Read them within the transaction that stores the entry.
struct Rivals {
  private let entry: NewEntry
  private let stored: [StoredEntry]
  private let variant: [UInt8]

  /// - Parameter stored: the entries with the hash of the key.
  init(of entry: NewEntry, stored: [StoredEntry]) {
    self.entry = entry
    self.stored = stored
    variant = RecordCodec.variant(of: entry.record)
  }

  /// The rows that the entry replaces, and the oldest variants beyond the limit. A partial body does not replace
  /// the whole body of its variant.
  var replaced: [EntryRow] {
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

  /// Refuses a response if a more recent complete response with equal nominated fields was stored or freshened
  /// after the request was sent (RFC 9111 §4).
  ///
  /// - Parameter record: the record of the entry, invalidated if its request was overtaken.
  /// - Throws: `CacheError.superseded`.
  func requireNoneSupersedes(_ record: CacheRecord, in opened: OpenDirectory) throws(CacheError) {
    let isSuperseded = stored.contains { found in
      !found.row.isPartial && found.record?.key == record.key && found.isOf(variant: variant)
        && opened.isSuperseded(record, by: found)
    }
    if isSuperseded {
      throw CacheError(.superseded, "it was asked for while this one was on its way", key: record.key)
    }
  }

  /// - Throws: `CacheError.closed` if the writer of a body has ended, `CacheError.superseded` if another writer is
  ///   writing a partial body that the row would replace.
  func requireNoWriter(in opened: OpenDirectory) throws(CacheError) {
    guard entry.bodyFile.isOpen else {
      throw CacheError(.closed, "the writer gave up", key: entry.record.key)
    }
    let isWritten = replaced.contains { $0.file.map { opened.directory.isLocked($0) } ?? false }
    if isWritten { throw CacheError(.superseded, "another writer has a part of it", key: entry.record.key) }
  }
}

extension OpenDirectory {
  /// The record as it must be stored: invalidated if any process invalidated or removed a matching selection
  /// after the request was sent (RFC 9111 §4.4).
  func invalidatedIfOvertaken(_ record: CacheRecord) -> CacheRecord {
    guard !record.response.isInvalidated, let ticket = record.ticket,
      changes.isOvertaken(record.key, groups: record.groups, since: ticket)
    else { return record }
    return record.with(response: record.response.marked(as: .invalidated))
  }

  /// Whether a stored entry is more recent than a response, and was stored or freshened after the request for
  /// this response was sent.
  func isSuperseded(_ record: CacheRecord, by stored: StoredEntry) -> Bool {
    guard let ticket = record.ticket, stored.row.mark > Int64(clamping: ticket.seen),
      let other = stored.record
    else { return false }
    return record.isOlder(than: other, askedForAt: moment(of: other))
  }
}
