/// A wall-clock time in whole seconds since 1 January 1970 00:00:00 UTC, the resolution of HTTP.
///
/// Arithmetic saturates, so that hostile dates and ages cannot trap.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
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

extension Timestamp {
  /// Parses an HTTP-date in one of its three formats (RFC 9110 §5.6.7), in any letter case
  /// (RFC 9111 §4.2).
  ///
  /// A wrong but well-formed day of the week is tolerated. Any other deviation, such as a zone
  /// other than `GMT`, makes the result nil.
  ///
  /// - Parameters:
  ///   - httpDate: the field value, without whitespace around it.
  ///   - now: resolves two-digit years: a time more than 50 years after it is in the past.
  public init?(httpDate: String, relativeTo now: Timestamp) {
    var text = httpDate
    guard let time = text.withUTF8({ Timestamp(octets: $0, relativeTo: now) }) else { return nil }
    self = time
  }

  /// The time as an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
  ///
  /// Times before the year 0 or after the year 9999 cannot be written in this form, and are shown as the
  /// nearest time that can.
  public var httpDate: String {
    let clamped = min(max(seconds, Self.firstSecond), Self.lastSecond)
    let days = clamped >= 0 ? clamped / 86_400 : (clamped - 86_399) / 86_400
    let time = Int(clamped - days * 86_400)
    let date = CivilDate(daysSince1970: Int(days))
    let weekday = ((Int(days) + 4) % 7 + 7) % 7
    return String(unsafeUninitializedCapacity: 29) { buffer in
      func put(_ text: StaticString, from start: Int, count: Int, at index: Int) {
        for offset in 0..<count { buffer[index + offset] = text.utf8Start[start + offset] }
      }
      func put(_ number: Int, digits: Int, at index: Int) {
        var rest = number
        for offset in stride(from: digits - 1, through: 0, by: -1) {
          buffer[index + offset] = UInt8(0x30 + rest % 10)
          rest /= 10
        }
      }
      put("   ,          00 00:00:00 GMT", from: 0, count: 29, at: 0)
      put("SunMonTueWedThuFriSat", from: weekday * 3, count: 3, at: 0)
      put(date.day, digits: 2, at: 5)
      put("JanFebMarAprMayJunJulAugSepOctNovDec", from: (date.month - 1) * 3, count: 3, at: 8)
      put(date.year, digits: 4, at: 12)
      put(time / 3_600, digits: 2, at: 17)
      put(time / 60 % 60, digits: 2, at: 20)
      put(time % 60, digits: 2, at: 23)
      return 29
    }
  }

  /// The time as an IMF-fixdate, as `httpDate`.
  public var description: String { httpDate }

  static let firstSecond: Int64 = -62_167_219_200
  static let lastSecond: Int64 = 253_402_300_799

  init?(octets: Octets, relativeTo now: Timestamp) {
    let scanner = DateScanner(octets: octets)
    let time: Int64?
    if octets.count == 29, octets[3] == UInt8(ascii: ",") {
      time = scanner.fixdate()
    } else if octets.count == 24 {
      time = scanner.asctime()
    } else {
      time = scanner.rfc850(relativeTo: now)
    }
    guard let time else { return nil }
    self.init(seconds: time)
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
