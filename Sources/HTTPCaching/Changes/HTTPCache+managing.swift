import HTTPCacheSemantics
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
  public func counts() async throws(CacheError) -> CacheCounts { try await store.counts() }

  /// Changes capacities, and evicts down to them at once. The capacity of the disk tier is kept in the
  /// directory, for all processes that use it.
  ///
  /// - Parameters:
  ///   - memory: bytes; nil leaves the capacity as it is.
  ///   - disk: bytes; nil leaves the capacity as it is.
  /// - Throws: `CacheError` if the directory cannot be written.
  public func setCapacity(memory: Int64? = nil, disk: Int64? = nil) async throws(CacheError) {
    try await store.setCapacity(memory: memory, disk: disk)
  }

  /// A page of the stored entries.
  ///
  /// - Parameters:
  ///   - selection: which entries; all by default.
  ///   - cursor: where the previous page ended; nil for the first page.
  ///   - limit: the maximum number of entries of the page.
  /// - Throws: `CacheError` if the directory cannot be read.
  public func entries(
    _ selection: CacheSelection = .all, after cursor: EntryCursor? = nil, limit: Int = 256
  ) async throws(CacheError) -> EntryPage {
    try await store.entries(selection, after: cursor, limit: limit)
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
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    var count = 0
    for selection in try await resolved(selection) { count += try await store.remove(selection) }
    observe(.selectionRemoved(selection, count: count))
    return count
  }

  /// Removes what is stored for the URL of a request, in all partitions and variants.
  ///
  /// - Parameter request: with scheme, authority and path.
  /// - Returns: the number of responses removed.
  /// - Throws: as `remove(_:)` for a selection.
  @discardableResult
  public func remove(_ request: HTTPRequest) async throws(CacheError) -> Int {
    try await remove(.target(try Self.target(of: request)))
  }

  /// Removes all entries.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError` if the directory cannot be written.
  @discardableResult
  public func removeAll() async throws(CacheError) -> Int { try await remove(.all) }

  /// Invalidates the entries that match: they are kept, and validated before they are used again
  /// (RFC 9111 §4.4). Takes effect at once, however many they are.
  ///
  /// - Parameter selection: as for `remove(_:)`.
  /// - Returns: the number of responses invalidated; nil if the store does not count.
  /// - Throws: as `remove(_:)`.
  @discardableResult
  public func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    var count: Int? = 0
    for selection in try await resolved(selection) {
      guard let marked = try await store.invalidate(selection) else {
        count = nil
        continue
      }
      count = count.map { $0 + marked }
    }
    observe(.selectionInvalidated(selection, count: count))
    return count
  }

  /// Invalidates what is stored for the URL of a request, in all partitions and variants.
  ///
  /// - Parameter request: with scheme, authority and path.
  /// - Returns: the number of responses invalidated; nil if the store does not count.
  /// - Throws: as `remove(_:)`.
  @discardableResult
  public func invalidate(_ request: HTTPRequest) async throws(CacheError) -> Int? {
    try await invalidate(.target(try Self.target(of: request)))
  }

  private static func target(of request: HTTPRequest) throws(CacheError) -> String {
    guard let target = CacheKey.target(of: request) else {
      throw CacheError(.invalidRequest, "the request has no absolute http or https URL")
    }
    return target
  }

  /// Translates a caller's selection into selections of the store.
  private func resolved(_ selection: CacheSelection) async throws(CacheError) -> [CacheSelection] {
    switch selection {
    case .target(let url):
      guard let target = TargetURI.normalized(url) else {
        throw CacheError(.invalidRequest, "not an absolute URL: \(url)")
      }
      // Another process may have other rules than this one.
      return try await selections(ofTarget: target, asksForOtherNames: true)
    case .group(let url, let name):
      guard let origin = TargetURI.origin(of: url) else {
        throw CacheError(.invalidRequest, "not an origin: \(url)")
      }
      return [.group(origin: origin, name: name)]
    case .site(let url, let mode, let partition):
      guard let origin = TargetURI.origin(of: url) else {
        throw CacheError(.invalidRequest, "not an origin: \(url)")
      }
      return [.site(origin: origin, mode: mode, partition: partition)]
    case .all, .partition, .key, .variant, .prefix, .storedSince, .storedBefore, .unusedSince:
      return [selection]
    }
  }

  /// The selections that a change of a target covers.
  ///
  /// - Parameters:
  ///   - target: the normalised target.
  ///   - asksForOtherNames: whether to look up other names of the target in the store.
  /// - Throws: `CacheError` if the directory cannot be read.
  func selections(
    ofTarget target: String, asksForOtherNames: Bool
  ) async throws(CacheError) -> [CacheSelection] {
    guard let keys = configuration.rules.keyTargets(of: target) else {
      // Overrides can give the target any key of its origin.
      return [.prefix((TargetURI.origin(of: target) ?? target) + "/")]
    }
    guard asksForOtherNames else { return keys.map { .target($0) } }
    var names: [String] = []
    for key in keys {
      for name in [key] + (try await store.targets(equivalentTo: key)) where !names.contains(name) {
        names.append(name)
      }
    }
    return names.map { .target($0) }
  }
}
