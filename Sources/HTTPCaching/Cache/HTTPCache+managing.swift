public import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

/// Listing, removing and invalidating what is stored.
///
/// A removal or an invalidation also covers running requests: if it may match a response whose request was
/// sent before, this response is stored as invalidated, whichever process sent the request.
extension HTTPCache {
  /// Bytes and entries in use.
  public var usage: StoreUsage { store.usage }

  /// The counts over the life of the cache.
  ///
  /// - Throws: `CacheError` if the directory cannot be read.
  @concurrent
  public func counts() async throws(CacheError) -> CacheCounts { try await store.counts() }

  /// Changes capacities, and evicts down to them at once. The capacity on disk is kept in the
  /// directory, for all processes that use it.
  ///
  /// - Parameters:
  ///   - memory: bytes; nil leaves the capacity as it is.
  ///   - disk: bytes; nil leaves the capacity as it is.
  /// - Throws: `CacheError` with `invalidValue` for a negative capacity; `CacheError` if the directory cannot be written.
  @concurrent
  public func setCapacity(memory: Int64? = nil, disk: Int64? = nil) async throws(CacheError) {
    for (name, bytes) in [("memory", memory ?? 0), ("disk", disk ?? 0)] where bytes < 0 {
      throw CacheError(.invalidValue, "the capacity of \(name) must not be negative (got \(bytes) bytes)")
    }
    try await store.setCapacity(memory: memory, disk: disk)
  }

  /// A page of the stored entries.
  ///
  /// - Parameters:
  ///   - selection: which entries; all by default.
  ///   - cursor: where the previous page ended; nil for the first page.
  ///   - limit: the maximum number of entries of the page.
  /// - Throws: `CacheError` with `invalidRequest` for a prefix or a target that is not absolute; `CacheError` if the
  ///   directory cannot be read.
  @concurrent
  public func entries(
    _ selection: CacheSelection = .all, after cursor: EntryCursor? = nil, limit: Int = 256
  ) async throws(CacheError) -> EntryPage {
    try await store.entries(try selection.checked(), after: cursor, limit: limit)
  }

  /// Removes the entries that match. Takes effect at once, however many they are.
  ///
  /// `.target` takes the URL of a request; it also selects entries that are stored under other names of it
  /// (overridden keys, `No-Vary-Search`, cache items).
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError` with `invalidRequest` for a URL or an origin that is not absolute; `CacheError` if
  ///   the directory cannot be written.
  @discardableResult
  @concurrent
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    try await engine.shelf.remove(selection)
  }

  /// Removes what is stored for the URL of a request, in all partitions and variants.
  ///
  /// - Parameter request: with scheme, authority and path.
  /// - Returns: the number of responses removed.
  /// - Throws: as `remove(_:)` for a selection.
  @discardableResult
  @concurrent
  public func remove(_ request: HTTPRequest) async throws(CacheError) -> Int {
    try await remove(.target(try Self.target(of: request)))
  }

  /// Removes all entries.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError` if the directory cannot be written.
  @discardableResult
  @concurrent
  public func removeAll() async throws(CacheError) -> Int { try await remove(.all) }

  /// Invalidates the entries that match: they are kept, and validated before they are used again
  /// (RFC 9111 §4.4). Takes effect at once, however many they are.
  ///
  /// - Parameter selection: as for `remove(_:)`.
  /// - Returns: the number of responses invalidated; nil if the store does not count.
  /// - Throws: as `remove(_:)`.
  @discardableResult
  @concurrent
  public func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    try await engine.shelf.mark(selection, as: .invalidated)
  }

  /// Invalidates what is stored for the URL of a request, in all partitions and variants.
  ///
  /// - Parameter request: with scheme, authority and path.
  /// - Returns: the number of responses invalidated; nil if the store does not count.
  /// - Throws: as `remove(_:)`.
  @discardableResult
  @concurrent
  public func invalidate(_ request: HTTPRequest) async throws(CacheError) -> Int? {
    try await invalidate(.target(try Self.target(of: request)))
  }

  /// Ends the lifetime of the entries that match, as a soft purge does: they are kept, and used as stale responses are
  /// (RFC 9111 §4.2.4): validated, or used by `stale-while-revalidate` and `stale-if-error` (RFC 5861), or while the
  /// origin cannot be reached. `invalidate(_:)` forbids these uses. Seeds, and responses that are still arriving, are
  /// invalidated. Takes effect at once, however many they are.
  ///
  /// - Parameter selection: as for `remove(_:)`.
  /// - Returns: the number of responses that match; nil if the store does not count.
  /// - Throws: as `remove(_:)`.
  @discardableResult
  @concurrent
  public func expire(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    try await engine.shelf.mark(selection, as: .expired)
  }

  private static func target(of request: HTTPRequest) throws(CacheError) -> String {
    guard let target = CacheKey.target(of: request) else {
      throw CacheError(.invalidRequest, "the request has no absolute http or https URL")
    }
    return target
  }

  /// Removes everything stored for an account, for example when it signs out: responses, parts of responses,
  /// responses that are being stored, and notes about refusals. When this returns, no file of the cache
  /// contains any byte of the partition. Copies that a file system or a flash disk keeps of deleted files are
  /// out of reach, and so are files that a caller still holds.
  ///
  /// Running transfers of the partition continue for their readers, and are not stored. A body that another process is
  /// storing at this moment, or a file that this one is adopting, is given up at its next block, and its file deleted.
  ///
  /// - Parameter partition: as in `RequestOptions.partition`; the partition of this cache's mode.
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`; `CacheError.busy` if another process has been reading an old state of the index
  ///   for seconds: everything is removed, but the index's log still contains bytes of it.
  @discardableResult
  @concurrent
  public func wipe(partition: String) async throws(CacheError) -> Int {
    try await engine.shelf.wipe(mode: configuration.rules.mode, partition: partition, in: store)
  }

  /// Stores a local file as the response to a request, for example a file that a background session or another
  /// program downloaded. The file stays where it is. It is read in pieces; where the file system lets files share
  /// blocks (such as Btrfs and XFS), its bytes are not written again.
  ///
  /// RFC 9111 §3 decides as for a response of an origin that arrives now. A `Repr-Digest` or `Content-Digest` of
  /// the response is verified (RFC 9530).
  ///
  /// - Parameters:
  ///   - path: a regular file with the whole body, in the content coding that the response states.
  ///   - response: the head that came with the body; not a 206.
  ///   - request: the request that was answered.
  ///   - partition: as in `RequestOptions.partition`.
  /// - Returns: why the response is not stored; nil if it is.
  /// - Throws: `CacheError.io` if the file cannot be opened, `CacheError.invalidRequest` for a request that has
  ///   no key.
  @discardableResult
  @concurrent
  public func adopt(
    file path: String, response: HTTPResponse, for request: HTTPRequest, partition: String = ""
  ) async throws(CacheError) -> StorageRefusal? {
    try await Adoption(lookup: engine.lookup, shelf: engine.shelf)
      .store(file: path, response: response, for: request, partition: partition)
  }
}

/// A cache that shares a tier with other nodes (`Configuration.shared`).
///
/// Responses that one node fetched answer the others, and removals, invalidations and wipes reach all nodes. A change is
/// applied on this node when the call returns; `fleetReceipt(within:)` tells how many other nodes have applied it, too.
extension HTTPCache {
  /// Waits until this node has read all changes of the other nodes, so that it serves nothing that they removed or
  /// invalidated while it was away. Call it before the first request; without it, requests in the first moments may be
  /// answered from the directory as it was.
  ///
  /// - Parameter limit: the longest time to wait. The cache then works without the tier until the tier can be reached.
  /// - Returns: whether the node is connected; false for a cache without a tier.
  @discardableResult
  @concurrent
  public func join(within limit: Duration) async -> Bool {
    await engine.fleet?.join(within: limit) ?? false
  }

  /// Stops to follow the log, for a simulation that has to come to an end.
  package func stopFollowing() { engine.fleet?.stop() }

  /// How the cache is connected with its fleet; nil for a cache without a tier.
  public var fleetStatus: FleetStatus? { engine.fleet?.status }

  /// How many nodes have applied all changes that this node has made.
  ///
  /// - Parameter limit: how long to wait until all have.
  /// - Returns: nil for a cache without a tier.
  /// - Throws: `SharedTierError` if the tier cannot tell.
  @concurrent
  public func fleetReceipt(within limit: Duration) async throws(SharedTierError) -> FleetReceipt? {
    guard let fleet = engine.fleet else { return nil }
    return try await fleet.receipt(within: limit)
  }

  /// The nodes of the fleet that told of themselves in the last seconds; none for a cache without a tier.
  ///
  /// - Throws: `SharedTierError` if the tier cannot tell.
  @concurrent
  public func fleetNodes() async throws(SharedTierError) -> [SharedNode] {
    guard let fleet = engine.fleet else { return [] }
    return try await fleet.ask("ask for the nodes") { () async throws(SharedTierError) in
      try await fleet.tier.nodes()
    }
  }
}
