import HTTPCaching

/// The date in `Expires` of a cookie, which may have many forms (RFC 6265 §5.1.1).
struct CookieDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private var time: [Int]?
  private var day: Int?
  private var month: Int?
  private var year: Int?

  /// The date in seconds since 1970; nil for a text without a date.
  static func seconds(of text: String) -> Int64? {
    var date = CookieDate()
    let tokens = text.utf8.split(whereSeparator: isDelimiter)
    for token in tokens { date.read(Array(token)) }
    return date.seconds
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// Reads a token as the first of time, day, month and year that is not known yet.
  private mutating func read(_ token: [UInt8]) {
    if time == nil, let found = Self.time(token) {
      time = found
    } else if day == nil, let found = Self.number(token, digits: 1...2) {
      day = found
    } else if month == nil, let found = Self.month(token) {
      month = found
    } else if year == nil, let found = Self.number(token, digits: 2...4) {
      year = found + (found < 70 ? 2_000 : found < 100 ? 1_900 : 0)
    }
  }

  private var seconds: Int64? {
    guard let time, let day, let month, let year, year >= 1601, time[0] < 24, time[1] < 60, time[2] < 60
    else { return nil }
    func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = time.map(padded).joined(separator: ":")
    // The parser of HTTP dates knows which days there are.
    return Timestamp(
      httpDate: "Thu, \(padded(day)) \(Self.months[month]) \(year) \(clock) GMT",
      relativeTo: Timestamp(seconds: 0))?.seconds
  }

  private static func time(_ token: [UInt8]) -> [Int]? {
    let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit),
      let hour = number(Array(parts[0]), digits: 1...2), let minute = number(Array(parts[1]), digits: 1...2),
      let second = number(Array(parts[2]), digits: 1...2)
    else { return nil }
    return [hour, minute, second]
  }

  private static func month(_ token: [UInt8]) -> Int? {
    let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
    return months.firstIndex { $0.lowercased() == name }
  }

  /// The number that a token begins with, if it has so many digits; what follows does not matter.
  private static func number(_ token: [UInt8], digits range: ClosedRange<Int>) -> Int? {
    let digits = token.prefix(while: isDigit)
    guard range.contains(digits.count) else { return nil }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
