import HTTPCaching

/// The information that `CachedURLSession` passes to its upstream through the engine.
struct RequestContext: Sendable {
  /// The caller's request, for settings outside HTTP: network service type, cellular access, timeout.
  let prototype: URLRequest
  /// The caller's content, for a request that has to be sent again with credentials.
  let content: RequestBody
  /// The delegates that are asked about challenges: the task's, then the session's.
  let delegates: [any URLSessionDelegate]
  /// Whether the cache serves many users: they must not share responses that one user's credentials opened.
  let isShared: Bool
}
