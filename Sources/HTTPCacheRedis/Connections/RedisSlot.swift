/// The slots that a cluster divides its keys into.
enum RedisSlot {
  /// How many there are.
  static let count = 16_384

  /// The slot of a key: that of the text between its first braces, if there is any (hash tag), or of the whole key.
  static func of(_ key: [UInt8]) -> Int {
    guard let open = key.firstIndex(of: UInt8(ascii: "{")),
      let close = key[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
    else { return Int(crc(key[...])) % count }
    return Int(crc(key[(open + 1)..<close])) % count
  }

  /// CRC16 with the polynomial 0x1021 and the initial value 0 (CRC-16/XMODEM).
  private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    var crc: UInt16 = 0
    for byte in bytes {
      crc ^= UInt16(byte) << 8
      for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
    }
    return crc
  }
}
