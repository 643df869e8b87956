public import HTTPCacheSemantics
import HTTPTypes

/// A place for records and bodies. The engine reads and writes bytes only through this protocol. Of HTTP, a
/// store knows the order of responses to one key (RFC 9111 §4, `CacheRecord.isSuperseded(by:)`).
///
/// A store implements ten requirements: reading, writing, updating, removing, invalidating and listing responses,
/// the two of invalidation tickets (`ChangeCounters` have both), its usage and its secret. The others have
/// default implementations, for a store without memory tier, partial responses, persistent counters, notes of
/// refusals or files. A store over another one is a `StoreLayer`. `StoreConformance` of HTTPCacheTesting checks a store.
///
/// `StoredResponse.nominated` separates the records of one key: a record replaces a stored one whose nominated
/// fields are equal, and is a further variant otherwise. A partial response never replaces a complete one: both
/// are kept until a complete one replaces them.
public protocol CacheStore: AnyObject, Sendable {
  /// Looks into memory only; never blocks and does no I/O. Counts as a use of what it finds. A key without responses is
  /// counted by `read` alone, which a request calls next; so does one that cannot use what it found, and counts twice.
  /// The default implementation returns nil.
  ///
  /// - Returns: all variants of the key, none if nothing is stored; nil if memory cannot tell: call `read`.
  func peek(_ key: CacheKey) -> [StoredVariant]?

  /// The variants stored for a key, most recently stored first. May do a short blocking look-up on the caller's
  /// thread. Counts as a use of the key.
  ///
  /// - Throws: `CacheError`; the engine treats it as a miss.
  /// - Complexity: O(log n) in the number of entries.
  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant]

  /// The ticket of a request that is about to be sent to the upstream, for `CacheRecord.ticket`. Costs no more
  /// than reading memory. A store that only one process uses makes it with `ChangeCounters`.
  func ticket() -> InvalidationTicket

  /// Whether an invalidation or removal after a ticket was taken, by any process that shares the store, may
  /// match a response. May be true for a response that does not match; is never false for one that does.
  /// Costs no more than reading memory.
  ///
  /// - Parameters:
  ///   - key: the key of the response.
  ///   - groups: the groups of the response (RFC 9875); nil before its head has arrived: it may be in any
  ///     group.
  ///   - ticket: the ticket of the request that the response answers.
  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool

  /// Whether the partition of a response may have been wiped after a ticket was taken, by any process that shares the
  /// store. May be true for a partition that was not; is never false for one that was. Costs no more than reading memory.
  ///
  /// - Parameters:
  ///   - key: the key of the response.
  ///   - ticket: the ticket of the request that the response answers.
  func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool

  /// Begins to store a response. A response that is overtaken (`isOvertaken`) when it is committed or kept is
  /// stored as invalidated. If its partition was wiped (`isWiped`), committing and keeping throw `CacheError.wiped`, and
  /// nothing is stored.
  ///
  /// The commit throws `CacheError.superseded`, and stores nothing, if a complete response with equal
  /// nominated fields was stored after the request was sent, is not invalidated, and is either more recent
  /// (RFC 9111 §4: by `Date`, then by the order of the requests) or not overtaken while the new response is.
  ///
  /// - Parameters:
  ///   - record: the response; `bodyLength` is the announced length in bytes if known. Without a ticket, its
  ///     request counts as sent now.
  ///   - variantLimit: the maximum number of variants of the key; the oldest are removed.
  /// - Throws: `CacheError.tooLarge` for a response larger than the largest entry, `CacheError.io`,
  ///   `CacheError.noSpace`.
  func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter

  /// Begins to add a part to a stored partial response. Once the body is complete, the response is complete,
  /// and replaces the response that its variant had. The default implementation throws `CacheError.unavailable`.
  ///
  /// - Parameters:
  ///   - record: the partial response (`key` and `sequence`), with its new contents.
  ///   - offset: the position in the body of the first appended byte. Appended bytes that are stored already
  ///     are ignored.
  /// - Throws: `CacheError.unavailable` if the partial response is no longer stored, is complete, or another
  ///   writer, in this process or another, is adding to it; `CacheError.tooLarge`, `CacheError.io`.
  func extend(_ record: CacheRecord, at offset: Int64) async throws(CacheError) -> any BodyWriter

  /// Remembers why a response was not stored. Batched, and bounded in number. The default implementation does
  /// nothing.
  func note(_ refusal: RefusalNote)

  /// Why responses of a key were not stored, latest first. The default implementation returns none.
  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote]

  /// Replaces the record of a stored response and keeps its body (freshening, RFC 9111 §3.2). The record, its
  /// groups and its pin change in one step, also beside concurrent changes. Does nothing if the response was
  /// replaced or removed meanwhile (its `sequence` tells).
  ///
  /// The ticket of the record is the ticket of the request that validated the response. A response that is
  /// overtaken is stored as invalidated; without a ticket, an invalidated response stays invalidated. The
  /// record is not written if another update has written a more recent one since its request was sent (RFC
  /// 9111 §4).
  ///
  /// - Returns: whether it was replaced.
  @discardableResult
  func update(_ record: CacheRecord) async throws(CacheError) -> Bool

  /// Removes the entries that match. They are no longer found from the start of this call, however many they
  /// are, even if the process ends before their space is reclaimed. Responses to earlier requests are
  /// overtaken.
  ///
  /// - Returns: the number of responses removed.
  @discardableResult
  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int

  /// Marks the entries that match, and keeps them: an invalidated entry is validated before any reuse (RFC 9111 §4.4),
  /// the lifetime of an expired one has ended, and it is used as stale responses are (§4.2.4). Takes effect at once, like
  /// a removal; responses to earlier requests are overtaken. A store may invalidate where it should let expire, and a
  /// store that cannot tell the matching entries apart may mark more.
  ///
  /// - Returns: the number of responses that match, or nil if the store does not count.
  @discardableResult
  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int?

  /// The entries that match, in a stable order, at most `limit`, after `cursor`.
  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage

  /// Bytes and entries in use; O(1).
  var usage: StoreUsage { get }

  /// Whether all entries are in memory, whatever their records say about it. The default implementation returns false.
  var isInMemoryOnly: Bool { get }

  /// A random 32-byte key of this store, for digests of values that must not be stored in plain text.
  var secret: [UInt8] { get }

  /// Adds to the persistent counters. Batched, and cheap enough for every request. The default implementation
  /// does nothing.
  func count(_ counts: CacheCounts)

  /// The persistent counters. The default implementation returns zeros.
  func counts() async throws(CacheError) -> CacheCounts

  /// Changes capacities in bytes, and evicts at once until usage is within them; nil leaves a capacity
  /// unchanged. The default implementation does nothing.
  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError)

  /// Evicts from memory until at most `bytes` are in use, for a system that is low on memory. The capacity and
  /// pinned entries do not change. The default implementation does nothing.
  func trimMemory(to bytes: Int64)

  /// Removes all entries of a partition. When this returns, the store's files contain nothing of them, and no response
  /// to a request that was sent before is stored any more. A store notes the wipe (`ChangeCounters.noteWipe`) before it
  /// looks for entries.
  ///
  /// - Returns: the number of responses removed.
  @discardableResult
  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int

  /// Writes batched changes, so that another process finds them when it opens the store. The default
  /// implementation does nothing.
  func flush() async

  /// Writes batched changes, and closes files and connections. The store is not used afterwards. The default
  /// implementation flushes.
  func close() async
}

extension CacheStore {
  /// Invalidates the entries that match: `mark(_:as:)`.
  ///
  /// - Returns: the number of responses that match, or nil if the store does not count.
  @discardableResult
  public func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    try await mark(selection, as: .invalidated)
  }

  /// Returns nil.
  public func peek(_ key: CacheKey) -> [StoredVariant]? { nil }

  /// Throws `CacheError.unavailable`: the store keeps no partial responses.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    throw CacheError(.unavailable, "the store keeps no partial responses", key: record.key)
  }

  /// Returns false.
  public var isInMemoryOnly: Bool { false }

  /// Does nothing.
  public func note(_ refusal: RefusalNote) {}

  /// Returns none.
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] { [] }

  /// Does nothing.
  public func count(_ counts: CacheCounts) {}

  /// Returns zeros.
  public func counts() async throws(CacheError) -> CacheCounts { CacheCounts() }

  /// Does nothing.
  public func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {}

  /// Does nothing.
  public func flush() async {}

  /// Flushes.
  public func close() async { await flush() }

  /// Does nothing.
  public func trimMemory(to bytes: Int64) {}
}

extension CacheStore {
  /// The other targets under which responses for a target may be stored, because they had `No-Vary-Search`
  /// (draft-ietf-httpbis-no-vary-search §7) or named a cache item (`CacheAlias`). A caller that removes or
  /// invalidates the target must do so for these targets, too.
  ///
  /// - Parameter target: a normalised target URI.
  public func targets(equivalentTo target: String) async throws(CacheError) -> [String] {
    var found: [String] = []
    for listed in Set([SearchVariance.path(of: target), target]) {
      try await forEachEntry(.target(listed)) { entry in
        guard let other = equivalent(to: target, by: entry.record), other != target,
          !found.contains(other)
        else { return }
        found.append(other)
      }
    }
    return found
  }

  /// Whether the partition of a response may have been wiped after its request.
  package func isWiped(_ record: CacheRecord) -> Bool {
    record.ticket.map { isWiped(record.key, since: $0) } ?? false
  }

  /// Calls `body` with each entry that matches. The entries are read in pages.
  ///
  /// - Throws: what reading and `body` throw.
  package func forEachEntry(
    _ selection: CacheSelection, _ body: (CacheEntry) async throws(CacheError) -> Void
  ) async throws(CacheError) {
    var cursor: EntryCursor?
    repeat {
      let page = try await entries(selection, after: cursor, limit: 256)
      for entry in page.entries { try await body(entry) }
      cursor = page.next
    } while cursor != nil
  }

  private func equivalent(to target: String, by record: CacheRecord) -> String? {
    switch record.key.methodClass {
    case .searchRule:
      SearchVariance(record.response.head.headerFields).canonical(target)
    case .pointer: record.key.target == target ? record.item : nil
    case .get, .query: nil
    }
  }
}

extension CacheRecord {
  /// The key target of the cache item that a pointer names; nil if the record is not a pointer.
  package var item: String? {
    guard key.methodClass == .pointer, let field = response.head.headerFields.first,
      case .item(let target) = CacheAlias.read(
        field.name, in: response.head.headerFields, target: key.target)
    else { return nil }
    return target
  }
}
