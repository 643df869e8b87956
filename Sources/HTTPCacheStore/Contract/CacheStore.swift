public import HTTPCacheSemantics

/// A place for records and bodies: the engine's only view of bytes. A store knows no HTTP.
///
/// Records of one key are told apart by `StoredResponse.nominated`: writing a record whose nominated
/// fields equal those of a stored one replaces it; any other is a further variant. A partial response
/// never takes the place of a complete one: both are kept until a complete one replaces them.
public protocol CacheStore: AnyObject, Sendable {
  /// Looks into memory only; never blocks and does no I/O.
  func peek(_ key: CacheKey) -> PeekResult

  /// The variants stored for a key, the most recently stored first. May do a short blocking look-up
  /// on the caller's thread. Counts as a use of the key.
  ///
  /// - Throws: `CacheError`; the engine takes it as a miss.
  /// - Complexity: O(log n) in the number of entries.
  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant]

  /// The ticket of a request that is about to be sent to the upstream, for `CacheRecord.ticket`. Costs no more
  /// than reading memory. A store of one process makes it with an `InvalidationLog`.
  func ticket() -> InvalidationTicket

  /// Whether a response may match something that was invalidated or removed after a ticket was taken, by any
  /// process that shares the store. May be true for a response that does not match, never false for one that does.
  /// Costs no more than reading memory.
  ///
  /// - Parameters:
  ///   - key: of the response.
  ///   - groups: of the response (RFC 9875); nil before its head has come, when it may belong to any.
  ///   - ticket: of the request that the response answers.
  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool

  /// Begins to store a response. A response that is overtaken (`isOvertaken`) when it is committed or kept is
  /// stored as invalidated. It is not stored, and its commit throws `CacheError.superseded`, if a complete
  /// response with equal nominated fields was stored after its request was sent that is not invalidated, and
  /// is more recent (RFC 9111 §4: by `Date`, then by the order of the requests) or not overtaken as well.
  ///
  /// - Parameters:
  ///   - record: the response; `bodyLength` is the announced length in bytes if known. Without a ticket its
  ///     request counts as sent now.
  ///   - variantLimit: the most variants of the key to keep; the oldest go.
  /// - Throws: `CacheError.tooLarge` for a response larger than the largest entry,
  ///   `CacheError.io`, `CacheError.noSpace`.
  func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter

  /// Begins to add a part to a stored partial response. Once all of the body is there, the response
  /// is complete, and replaces what its variant had.
  ///
  /// - Parameters:
  ///   - record: which one (`key` and `sequence`), with the response as it is to be from then on.
  ///   - offset: where in the body the appended bytes begin. Bytes of it that are stored already are
  ///     passed over.
  /// - Throws: `CacheError.unavailable` if it is not stored any more, is complete, or somebody else,
  ///   in this process or another, is adding to it; `CacheError.tooLarge`, `CacheError.io`.
  func extend(_ record: CacheRecord, at offset: Int64) async throws(CacheError) -> any BodyWriter

  /// Remembers why a response was not stored; batched, and bounded in number.
  func note(_ refusal: RefusalNote)

  /// Why responses of a key were not stored, the latest first.
  ///
  /// - Throws: `CacheError`.
  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote]

  /// Replaces the record of a stored response and keeps its body (freshening, RFC 9111 §3.2). All of it
  /// at once, with its groups and its pin, whatever is done to other responses at the same time.
  /// Does nothing if the response was replaced or removed in the meantime (its `sequence` tells).
  ///
  /// The ticket of the record is that of the request that validated the response. A response that is overtaken
  /// is stored as invalidated; without a ticket, a response that is marked as invalidated stays so. A record that
  /// is older than one that another update has written since its request was sent is not written (RFC 9111 §4).
  ///
  /// - Returns: whether it was replaced.
  /// - Throws: `CacheError`.
  @discardableResult
  func update(_ record: CacheRecord) async throws(CacheError) -> Bool

  /// Removes what matches. From the first moment on nothing that matches is found, however much it is, and
  /// also if the process ends before all of it is reclaimed. Responses that were asked for before are
  /// overtaken.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`.
  @discardableResult
  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int

  /// Marks what matches as invalidated: kept, but validated before any reuse (RFC 9111 §4.4). Takes effect at
  /// once, as removing does. A store that cannot tell all that matches apart may mark more.
  ///
  /// - Returns: the number of responses marked, or nil if the store marks without counting.
  /// - Throws: `CacheError`.
  @discardableResult
  func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int?

  /// Entries that match, in a stable order, at most `limit`, after `cursor`.
  ///
  /// - Throws: `CacheError`.
  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage

  /// Bytes and entries in use; O(1).
  var usage: StoreUsage { get }

  /// A random key of this store (32 bytes), for digests of what must not be stored in the clear.
  var secret: [UInt8] { get }

  /// Adds to the persistent counters; batched, cheap enough for every request.
  func count(_ counts: CacheCounts)

  /// The persistent counters.
  ///
  /// - Throws: `CacheError`.
  func counts() async throws(CacheError) -> CacheCounts

  /// Changes capacities in bytes and evicts down to them at once; nil leaves one as it is.
  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError)

  /// Evicts from memory down to some bytes, as when the system runs out of it; the capacity stays, and
  /// so does what is pinned. A store that keeps nothing in memory has nothing to do, which is what it
  /// does unless it says something else.
  func trimMemory(to bytes: Int64)

  /// Removes everything of a partition so that nothing of it is left in the store's files when this
  /// returns. Unless it says something else, a store removes what matches.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`.
  @discardableResult
  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int

  /// Writes what is batched; after it the store can be opened by others as it is.
  func flush() async
}

extension CacheStore {
  /// Does nothing.
  public func trimMemory(to bytes: Int64) {}

  /// Removes what matches.
  ///
  /// - Throws: `CacheError`.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    try await remove(.partition(mode: mode, partition))
  }
}
