public import HTTPCaching

/// Settings for one request of a `CachedURLSession`.
public struct LoadOptions: Sendable {
  /// How to use the cache; nil uses the request's policy, or if it has none, the configuration's.
  public var cachePolicy: CachePolicy?
  /// Decides whether and how the response is stored, after the hook of the cache's configuration.
  public var willStore: StoringHook?
  /// The priority of the request; nil is that of the calling task.
  public var priority: TaskPriority?
  /// The longest time to wait for the head of a response; afterwards a stale response may answer
  /// (RFC 9111 §4.2.4). nil is the `timeoutInterval` of the request.
  public var timeout: Duration?
  /// Called for each 1xx response of the origin.
  public var onInterim: (@Sendable (HTTPResponse) async -> Void)?

  /// Makes options.
  public init(
    cachePolicy: CachePolicy? = nil, willStore: StoringHook? = nil, priority: TaskPriority? = nil,
    timeout: Duration? = nil, onInterim: (@Sendable (HTTPResponse) async -> Void)? = nil
  ) {
    self.cachePolicy = cachePolicy
    self.willStore = willStore
    self.priority = priority
    self.timeout = timeout
    self.onInterim = onInterim
  }
}
