import HTTPCacheLibC

/// The time of a line in a log, in UTC.
struct LogTime {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private let date: tm
  private let milliseconds: Int64

  /// - Parameter time: since the beginning of 1970; negative before.
  init(_ time: Duration) {
    let (whole, part) = time.components
    // Before 1970 both are negative, and clocks count forward from the second before.
    var seconds = time_t(part < 0 ? whole - 1 : whole)
    var date = tm()
    gmtime_r(&seconds, &date)
    self.date = date
    milliseconds = (part < 0 ? part + 1_000_000_000_000_000_000 : part) / 1_000_000_000_000_000
  }

  /// As in `2026-11-23T18:39:56.007Z` (RFC 3339).
  var internet: String {
    let day = "\(year)-\(Self.pair(date.tm_mon + 1))-\(Self.pair(date.tm_mday))"
    return "\(day)T\(clock).\(AccessLog.pad(milliseconds, 3))Z"
  }

  /// As in `23/Nov/2026:18:39:56 +0000`, without brackets.
  var common: String {
    let month = Self.months.indices.contains(Int(date.tm_mon)) ? Self.months[Int(date.tm_mon)] : "-"
    return "\(Self.pair(date.tm_mday))/\(month)/\(year):\(clock) +0000"
  }

  private var year: Int32 { date.tm_year + 1900 }

  private var clock: String {
    "\(Self.pair(date.tm_hour)):\(Self.pair(date.tm_min)):\(Self.pair(date.tm_sec))"
  }

  private static func pair(_ number: Int32) -> String { AccessLog.pad(number, 2) }
}
