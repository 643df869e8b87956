/// Decimal numbers of the protocol: an optional sign and digits, together at most 20 characters.
enum RESPNumber {
  /// Nil for anything but one number, and for a number that needs more than 64 bits.
  static func parse(_ text: some Collection<UInt8>) -> Int64? {
    text.count <= 20 ? Int64(String(decoding: text, as: UTF8.self)) : nil
  }
}
