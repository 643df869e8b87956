public import Foundation

/// A value, and whether it may be older than the origin's current one.
public enum CachedValue<Value> {
  /// The origin has just sent or confirmed it.
  case fresh(Value)
  /// From the cache, without asking the origin; with the time when it was received or last confirmed.
  case cached(Value, Date)

  /// The value.
  public var value: Value {
    switch self {
    case .fresh(let value), .cached(let value, _): value
    }
  }

  /// When a value from the cache was received or last confirmed; nil for a fresh one.
  public var date: Date? {
    if case .cached(_, let date) = self { date } else { nil }
  }

  /// A copy with the value transformed.
  ///
  /// - Throws: what `transform` throws.
  public func map<Result, Failure: Error>(
    _ transform: (Value) throws(Failure) -> Result
  ) throws(Failure) -> CachedValue<Result> {
    switch self {
    case .fresh(let value): .fresh(try transform(value))
    case .cached(let value, let date): .cached(try transform(value), date)
    }
  }
}

extension CachedValue: Sendable where Value: Sendable {}
extension CachedValue: Equatable where Value: Equatable {}
extension CachedValue: Hashable where Value: Hashable {}
