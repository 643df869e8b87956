/// Gzip without compression (RFC 1952, RFC 1951 §3.2.4), which any decoder accepts.
enum Gzip {
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      result.append(rest.isEmpty ? 1 : 0)
      append(UInt16(block.count), to: &result)
      append(~UInt16(block.count), to: &result)
      result += block
    } while !rest.isEmpty
    append(crc32(bytes), to: &result)
    append(UInt32(truncatingIfNeeded: bytes.count), to: &result)
    return result
  }

  private static func append(_ value: some FixedWidthInteger, to result: inout [UInt8]) {
    withUnsafeBytes(of: value.littleEndian) { result += $0 }
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0xedb8_8320 : 0) }
    }
  }
}
