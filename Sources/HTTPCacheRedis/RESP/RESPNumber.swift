/// Decimal numbers of the protocol: an optional sign, and 1 to 19 digits.
enum RESPNumber {
  /// Nil for anything but one number, and for a number that needs more than 64 bits.
  static func parse(_ text: some Collection<UInt8>) -> Int64? {
    var digits = text[...]
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
    guard !digits.isEmpty, digits.count <= 19 else { return nil }
    var value: Int64 = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      // Summed up below zero, where one number more has a place.
      let (sum, isTooSmall) = product.subtractingReportingOverflow(Int64(digit &- UInt8(ascii: "0")))
      guard !isTooLarge, !isTooSmall else { return nil }
      value = sum
    }
    if isNegative { return value }
    return value == .min ? nil : -value
  }
}
