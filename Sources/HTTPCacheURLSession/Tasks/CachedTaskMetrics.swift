public import HTTPCaching

/// Times, bytes and outcome of a `CachedURLSessionTask`, by the clock of the cache.
public struct CachedTaskMetrics: Sendable, Hashable {
  /// From the first `resume()` to the response before its body; nil without a response. Pauses count.
  public internal(set) var timeToResponse: Duration?
  /// From the first `resume()` to the end. Pauses count.
  public internal(set) var duration: Duration = .zero
  /// Where the response came from, and why; nil without a response through the cache.
  public internal(set) var cacheOutcome: CacheOutcome?
  /// The outcomes of the redirects that were followed, first to last.
  public internal(set) var redirects: [CacheOutcome] = []
  /// Bytes of the body that were read, from the cache or from the origin.
  public internal(set) var countOfBytesReceived: Int64 = 0
}
