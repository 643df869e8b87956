public import HTTPCaching

extension CachedURLSession {
  /// Explains step by step what would happen to a request now, without sending it.
  ///
  /// - Parameters:
  ///   - request: a request without content.
  ///   - cachePolicy: how to use the cache; nil uses the request's policy, or if it has none, the
  ///     configuration's.
  /// - Throws: `URLError` for a request that cannot be cached, `CacheError` if the store cannot be read.
  public func explain(
    _ request: URLRequest, cachePolicy: CachePolicy? = nil
  ) throws -> CacheExplanation {
    try inspecting(request) { made in
      try cache.explain(
        made, policy: cachePolicy ?? policy(of: request), options: inspectingOptions)
    }
  }

  /// A fresh answer from memory, without suspending; nil if the caller has to call `data(for:)`. Redirects are
  /// returned, not followed.
  ///
  /// - Parameter request: a request without content.
  public func peek(_ request: URLRequest) -> (Data, URLResponse)? {
    answerFromMemory(request, where: { _ in true }).map { (Data($0.body), $0.response) }
  }

  /// Why responses to this request were not stored, latest first.
  ///
  /// - Parameter request: a request without content.
  /// - Throws: `URLError` for a request that cannot be cached, `CacheError` if the store cannot be read.
  public func refusals(of request: URLRequest) throws -> [RefusalNote] {
    try inspecting(request) { try cache.refusals(of: $0, options: inspectingOptions) }
  }

  /// Removes everything stored for the URL of a request in the session's partition.
  ///
  /// - Parameter request: its URL and method; its fields do not count.
  /// - Throws: `URLError` for a request that cannot be cached.
  public func remove(_ request: URLRequest) async throws {
    let made = try inspecting(request) { $0 }
    await cache.removeStored(for: made, partition: partition)
  }

  /// The stored response to a request, if there is one, and then its changes: another response stored in its
  /// place, a confirmation by the origin, an invalidation, a removal. No request is sent.
  ///
  /// ```swift
  /// for try await case .stored(let data, _) in try session.watch(request) { show(data) }
  /// ```
  ///
  /// Changes count that go through the session's `cache`: by this session, another door, `remove` or `invalidate`.
  /// Those of other processes and evictions are noticed no earlier than the next change of an entry of the same
  /// origin. Changes between two calls of `next()` are one update: the last state. The sequence ends when its task
  /// is cancelled.
  ///
  /// - Parameter request: a GET.
  /// - Throws: `URLError` for a request that cannot be cached.
  public func watch(_ request: URLRequest) throws -> WatchedResponses {
    guard let url = request.url else { throw URLError.make(.badURL, "the request has no URL", url: nil) }
    return try inspecting(request) { made in
      WatchedResponses(updates: try cache.watch(made, options: inspectingOptions), url: url)
    }
  }

  /// The options of a call that never asks the origin.
  var inspectingOptions: RequestOptions {
    var options = RequestOptions(partition: partition, bodyForms: .decoded)
    options.isOneUser = true
    return options
  }

  /// Calls `work` with the request that the cache would see.
  private func inspecting<Result>(
    _ request: URLRequest, _ work: (HTTPRequest) throws -> Result
  ) throws -> Result {
    do {
      return try work(try cacheRequest(request, .none))
    } catch {
      throw Self.foundationError(error, request.url)
    }
  }
}
