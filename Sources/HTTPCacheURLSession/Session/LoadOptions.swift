public import HTTPCaching

/// Settings for one request of a `CachedURLSession`.
public struct LoadOptions: Sendable {
  /// How to use the cache; nil uses the request's policy, else the configuration's.
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
  /// Called once with the metrics, when the request has ended: before its method returns or throws, and before a
  /// completion handler is called. For `bytes` and `responses`, when the body or the sequence has ended, failed
  /// or been dropped. A stored body is
  /// then copied into the file of a download, not cloned.
  public var onMetrics: (@Sendable (CachedTaskMetrics) -> Void)?

  /// Makes options.
  public init(
    cachePolicy: CachePolicy? = nil, willStore: StoringHook? = nil, priority: TaskPriority? = nil,
    timeout: Duration? = nil, onInterim: (@Sendable (HTTPResponse) async -> Void)? = nil,
    onMetrics: (@Sendable (CachedTaskMetrics) -> Void)? = nil
  ) {
    self.cachePolicy = cachePolicy
    self.willStore = willStore
    self.priority = priority
    self.timeout = timeout
    self.onInterim = onInterim
    self.onMetrics = onMetrics
  }

  /// The options with a cache policy of the call; nil keeps their own.
  func using(_ cachePolicy: CachePolicy?) -> LoadOptions {
    guard let cachePolicy else { return self }
    var options = self
    options.cachePolicy = cachePolicy
    return options
  }

  /// A started meter that reports to `onMetrics`; nil if the caller does not ask for metrics.
  func meter(_ clock: any CacheClock) -> LoadMeter? {
    guard let onMetrics else { return nil }
    let meter = LoadMeter(clock, report: onMetrics)
    meter.start()
    return meter
  }
}
