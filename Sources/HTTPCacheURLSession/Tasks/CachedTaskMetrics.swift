public import HTTPCaching

/// Outcome, times and bytes of one request of a `CachedURLSession`: see `CachedURLSessionTask.metrics` and
/// `LoadOptions.onMetrics`. Durations are by the clock of the cache, and pauses of a task count.
public struct CachedTaskMetrics: Sendable, Hashable {
  /// When the request began, in whole seconds.
  public internal(set) var startDate = Date(timeIntervalSince1970: 0)
  /// From the start to the head of the response; nil without a response.
  public internal(set) var timeToResponse: Duration?
  /// From the start to the first byte of the body; nil without one.
  public internal(set) var timeToFirstByte: Duration?
  /// From the start to the end; zero before the end.
  public internal(set) var duration: Duration = .zero
  /// Where the response came from, and why; nil without a response through the cache.
  public internal(set) var cacheOutcome: CacheOutcome?
  /// The outcomes of the redirects that were followed, first to last.
  public internal(set) var redirects: [CacheOutcome] = []
  /// Bytes of the body that were read, from the cache or from the origin.
  public internal(set) var countOfBytesReceived: Int64 = 0

  /// Bytes of the body that the cache had: all bytes that were read, or none.
  public var countOfBytesFromCache: Int64 { cacheOutcome.isFromStore ? countOfBytesReceived : 0 }

  /// Bytes of the body that came from the origin: all bytes that were read, or none. A stored first part that
  /// the origin completes (RFC 9111 §3.4) counts as from the origin.
  public var countOfBytesFromOrigin: Int64 { cacheOutcome.isFromStore ? 0 : countOfBytesReceived }
}
