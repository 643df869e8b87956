import HTTPCacheSemantics
public import HTTPCacheStore
public import HTTPTypes

/// Looking at what is stored, and removing or invalidating it.
///
/// What is on its way counts as well: a response whose request was sent before a removal or an invalidation that
/// may match it is stored as invalidated, whichever process asked for it.
extension HTTPCache {
  /// Bytes and entries in use.
  public var usage: StoreUsage { store.usage }

  /// What was counted over the life of the cache.
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

  /// A page of what is stored.
  ///
  /// - Parameters:
  ///   - selection: which entries; all by default.
  ///   - cursor: where the last page ended; nil for the first page.
  ///   - limit: the most entries of the page.
  /// - Throws: `CacheError` if the directory cannot be read.
  public func entries(
    _ selection: CacheSelection = .all, after cursor: EntryCursor? = nil, limit: Int = 256
  ) async throws(CacheError) -> EntryPage {
    try await store.entries(selection, after: cursor, limit: limit)
  }

  /// Removes what matches. Takes effect at once, however much it is.
  ///
  /// `.target` takes the URL of a request as it is, and also means what is stored under other names for it
  /// (overrides of keys, `No-Vary-Search`, cache items).
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError` with `invalidRequest` for a URL or an origin that is not absolute; `CacheError` if
  ///   the directory cannot be written.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    var count = 0
    for selection in try await resolved(selection) { count += try await store.remove(selection) }
    return count
  }

  /// Removes what is stored for the URL of a request, for all partitions and variants.
  ///
  /// - Parameter request: with scheme, authority and path.
  /// - Returns: the number of responses removed.
  /// - Throws: as `remove(_:)` for a selection.
  @discardableResult
  public func remove(_ request: HTTPRequest) async throws(CacheError) -> Int {
    try await remove(.target(try Self.target(of: request)))
  }

  /// Removes everything.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError` if the directory cannot be written.
  @discardableResult
  public func removeAll() async throws(CacheError) -> Int { try await store.remove(.all) }

  /// Marks what matches as invalidated: it is kept, and validated before it is used again (RFC 9111 §4.4).
  /// Takes effect at once, however much it is.
  ///
  /// - Parameter selection: as for `remove(_:)`.
  /// - Returns: the number of responses marked; nil if the store marks without counting.
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
    return count
  }

  /// Marks what is stored for the URL of a request as invalidated, for all partitions and variants.
  ///
  /// - Parameter request: with scheme, authority and path.
  /// - Returns: the number of responses marked; nil if the store marks without counting.
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

  /// The selections of the store that a caller's selection means.
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
    default: return [selection]
    }
  }

  /// Everything that a change of a target changes.
  ///
  /// - Parameters:
  ///   - target: normalised.
  ///   - asksForOtherNames: whether the store is asked for other names of the target.
  /// - Throws: `CacheError` if the directory cannot be read.
  func selections(
    ofTarget target: String, asksForOtherNames: Bool
  ) async throws(CacheError) -> [CacheSelection] {
    guard let keys = configuration.rules.keyTargets(of: target) else {
      // Overrides leave open which keys the target has.
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
