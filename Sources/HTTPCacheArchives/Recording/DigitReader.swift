/// Reads the parts of a written time.
struct DigitReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  /// Whether everything was read.
  var isAtEnd: Bool { rest.isEmpty }

  /// Whether a digit comes next.
  var isAtDigit: Bool { rest.first.map(Self.isDigit) ?? false }

  private static func isDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) }

  /// Reads a number of as many digits; nil if others come.
  mutating func number(_ count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return Int(String(digits) ?? "")
  }

  /// Reads a character if it comes next.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard let octet = rest.first, UInt32(octet) == character.value else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// Reads hours, minutes, seconds with a fraction, and a zone; the parts after the hours need not be there.
  ///
  /// - Parameter isCompact: whether no colons come between the parts.
  /// - Returns: seconds since midnight, UTC; nil if the text is not as described.
  mutating func clock(isCompact: Bool) -> Double? {
    guard let hours = number(2), hours <= 24 else { return nil }
    var seconds = Double(hours) * 3_600
    for (length, most) in [(60.0, 59), (1.0, 60)] {
      guard isCompact ? isAtDigit : take(":") else { break }
      guard let part = number(2), part <= most else { return nil }
      seconds += Double(part) * length
    }
    if take(".") || take(",") {
      var (unit, hasDigits) = (0.1, false)
      while let digit = number(1) {
        seconds += Double(digit) * unit
        (unit, hasDigits) = (unit / 10, true)
      }
      guard hasDigits else { return nil }
    }
    return zone().map { seconds - $0 }
  }

  /// Reads a zone: `Z`, `+hh:mm`, `+hhmm` or `+hh`.
  ///
  /// - Returns: its distance from UTC in seconds, 0 without a zone; nil for another text.
  private mutating func zone() -> Double? {
    if take("Z") || take("z") { return 0 }
    let isEast = take("+")
    guard isEast || take("-") else { return 0 }
    guard let hours = number(2), hours <= 24 else { return nil }
    var minutes = 0
    if take(":") || isAtDigit {
      guard let part = number(2), part <= 59 else { return nil }
      minutes = part
    }
    return Double(hours * 3_600 + minutes * 60) * (isEast ? 1 : -1)
  }
}
