import Foundation

/// Times as HAR and WARC have them.
enum RecordedTime {
  private static let styles = [
    Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle(),
  ]

  /// When the request was sent and the head of the response arrived, in seconds since 1970; nil if the entry does not
  /// tell.
  static func of(_ entry: HAREntry) -> (requested: Int64, received: Int64)? {
    guard let start = entry.startedDateTime.flatMap(time) else { return nil }
    let parts = [
      entry.timings?.blocked, entry.timings?.dns, entry.timings?.connect, entry.timings?.send,
      entry.timings?.wait,
    ]
    // Browsers write -1 for a phase that did not happen.
    let known = parts.compactMap { $0 }.filter { $0 >= 0 && $0 <= 86_400_000 }
    return (Int64(start.rounded(.down)), Int64((start + known.reduce(0, +) / 1_000).rounded(.down)))
  }

  /// A time of the W3C's profile of ISO 8601, in seconds since 1970: a year, a month, a day, a minute or a second with
  /// a fraction (WARC 1.1 §5.4), or the 14 digits of ARC. Without a zone it is UTC.
  private static func time(_ text: String) -> Double? {
    guard text.utf8.count <= 64 else { return nil }
    var reader = DigitReader(text)
    guard let year = reader.number(4) else { return nil }
    var (month, day, clock) = (1, 1, 0.0)
    let isCompact = reader.isAtDigit
    if isCompact || reader.take("-") {
      guard let number = reader.number(2) else { return nil }
      month = number
      if reader.isAtDigit || reader.take("-") {
        guard let number = reader.number(2) else { return nil }
        day = number
        if reader.isAtDigit || reader.take("T") || reader.take("t") || reader.take(" ") {
          guard let seconds = reader.clock(isCompact: isCompact) else { return nil }
          clock = seconds
        }
      }
    }
    guard reader.isAtEnd, let days = days(year, month, day) else { return nil }
    return Double(days) * 86_400 + clock
  }

  /// Days since 1970; nil for a date that does not exist.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    guard (1...12).contains(month), day >= 1 else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard day <= lengths[month - 1] else { return nil }
    let before = year - 1
    let days = before * 365 + before / 4 - before / 100 + before / 400
    return days + lengths[..<(month - 1)].reduce(0, +) + day - 1 - 719_162
  }

  /// Seconds since 1970; nil if the text is not a time.
  static func seconds(_ text: String) -> Int64? { time(text).map { Int64($0.rounded(.down)) } }

  /// The text of a time, with or without a fraction of a second.
  static func text(_ seconds: Int64, hasFraction: Bool) -> String {
    styles[hasFraction ? 0 : 1].format(Date(timeIntervalSince1970: Double(seconds)))
  }
}
