public import HTTPCaching

/// Where a `CachedValue` comes from.
public enum CachedValueSource: Sendable, Hashable {
  /// The origin has just sent or confirmed it.
  case origin
  /// From the cache, without asking the origin; with the time when it was received or last confirmed.
  case cache(Date)
  /// From the cache, because the origin could not be reached, failed, or must not be asked now; with the time
  /// when it was received or last confirmed.
  case disconnected(Date)
}

/// A decoded value, and whether it may be older than the origin's current one.
public struct CachedValue<Value> {
  /// The value.
  public let value: Value
  /// Where it comes from.
  public let source: CachedValueSource
  /// The response that it was decoded from, with its `cacheOutcome`.
  public let response: URLResponse

  /// Makes a value.
  public init(_ value: Value, from source: CachedValueSource, response: URLResponse) {
    self.value = value
    self.source = source
    self.response = response
  }

  /// Where the response came from, and why; nil if it did not come through the cache.
  public var outcome: CacheOutcome? { response.cacheOutcome }

  /// When a value from the cache was received or last confirmed; nil for one that the origin has just sent or
  /// confirmed.
  public var date: Date? {
    switch source {
    case .origin: nil
    case .cache(let date), .disconnected(let date): date
    }
  }

  /// Whether the cache answered because the origin could not be asked, or failed.
  public var isDisconnected: Bool { if case .disconnected = source { true } else { false } }

  /// A copy with the value transformed.
  ///
  /// - Throws: what `transform` throws.
  public func map<Result, Failure: Error>(
    _ transform: (Value) throws(Failure) -> Result
  ) throws(Failure) -> CachedValue<Result> {
    CachedValue<Result>(try transform(value), from: source, response: response)
  }
}

extension CachedValue: Sendable where Value: Sendable {}

extension CachedValueSource {
  /// The source of a response.
  init(_ response: CacheResponse?) {
    guard case .hit(_, _, let allowance)? = response?.outcome, let stored = response?.storedAt else {
      self = .origin
      return
    }
    let date = Date(timeIntervalSince1970: TimeInterval(stored.seconds))
    switch allowance {
    case .disconnected, .policy(.networkElseCache): self = .disconnected(date)
    case .window(let window) where window.isAfterFailure: self = .disconnected(date)
    default: self = .cache(date)
    }
  }
}
