/// A wall-clock time in whole seconds since 1 January 1970 00:00:00 UTC, the resolution of HTTP.
///
/// Arithmetic saturates, so that hostile dates and ages cannot trap.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Seconds since 1970; negative before.
  public var seconds: Int64

  /// Makes a time from seconds since 1970.
  public init(seconds: Int64) { self.seconds = seconds }

  /// Orders times, earlier first.
  public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool { lhs.seconds < rhs.seconds }

  /// The time from another time to this one; negative if the other is later.
  public func duration(since other: Timestamp) -> Duration { .seconds(self - other) }

  /// The time `duration` later (earlier if negative), in whole seconds, saturating.
  public func adding(_ duration: Duration) -> Timestamp { adding(duration.wholeSeconds) }

  /// The seconds from `rhs` to `lhs`, saturating.
  package static func - (lhs: Timestamp, rhs: Timestamp) -> Int64 {
    lhs.seconds.saturatingSubtract(rhs.seconds)
  }

  /// The time `interval` seconds later (earlier if negative), saturating.
  package func adding(_ interval: Int64) -> Timestamp {
    Timestamp(seconds: seconds.saturatingAdd(interval))
  }
}

extension Duration {
  /// The whole seconds, toward zero. A duration beyond the range of `Int64` gives the nearest end of the range.
  package var wholeSeconds: Int64 {
    if self >= .seconds(Int64.max) { return .max }
    return self <= .seconds(Int64.min) ? .min : components.seconds
  }
}

extension Int64 {
  package func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  package func saturatingSubtract(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}
