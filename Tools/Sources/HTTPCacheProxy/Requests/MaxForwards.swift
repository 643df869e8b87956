/// The value of `Max-Forwards`, a number of any length (RFC 9110 §7.6.2).
struct MaxForwards {
  /// The digits, without zeros before them.
  private let digits: [UInt8]

  /// Nil for a value that is no number.
  init?(_ text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    digits = Array(text.utf8.drop { $0 == 0x30 })
  }

  /// One less; nil for 0.
  var decremented: String? {
    var digits = digits
    guard let place = digits.lastIndex(where: { $0 != 0x30 }) else { return nil }
    digits[place] -= 1
    for index in digits.indices.suffix(from: place + 1) { digits[index] = 0x39 }
    let rest = digits.drop { $0 == 0x30 }
    return rest.isEmpty ? "0" : String(decoding: rest, as: UTF8.self)
  }
}
