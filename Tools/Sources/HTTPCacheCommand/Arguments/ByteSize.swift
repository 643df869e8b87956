/// A number of bytes as an argument: `4096`, `512M`, `2G`, `64KiB`, `1.5GB`. K, M, G, T and P are powers
/// of 1024, with or without `B` or `iB` after them.
struct ByteSize: ExpectedArgument, Sendable, Hashable, CustomStringConvertible {
  static let expected = "bytes, such as 4096, 64M or 1.5G"

  /// The number.
  let bytes: Int64

  /// Makes a size.
  init(bytes: Int64) { self.bytes = bytes }

  /// Parses an argument; nil if it is not a size, is negative, or is too large.
  init?(argument: String) {
    let text = argument.lowercased()
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    var unit = text.dropFirst(digits.count)
    if unit.hasSuffix("ib"), unit.count == 3 { unit = unit.dropLast(2) }
    if unit.hasSuffix("b") { unit = unit.dropLast() }
    guard let power = ["", "k", "m", "g", "t", "p"].firstIndex(of: String(unit)) else { return nil }
    let factor = Int64(1) << (10 * Int64(power))
    if let whole = Int64(digits) {
      let (bytes, overflow) = whole.multipliedReportingOverflow(by: factor)
      guard !overflow else { return nil }
      self.bytes = bytes
    } else {
      guard digits.filter({ $0 == "." }).count == 1, digits.first != ".", digits.last != ".",
        let number = Double(digits), power > 0, number * Double(factor) < Double(Int64.max)
      else { return nil }
      bytes = Int64(number * Double(factor))
    }
  }

  /// The number with the largest unit that divides it.
  var description: String {
    var number = bytes
    var unit = 0
    while number > 0, number % 1024 == 0, unit < 5 {
      number /= 1024
      unit += 1
    }
    return "\(number)\(["", "K", "M", "G", "T", "P"][unit])"
  }
}
