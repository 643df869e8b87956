/// Text that is ASCII, as nearly all of a record is, without the way of the general decoder.
enum ASCIIText {
  /// Whether all bytes are ASCII.
  static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    var bits: UInt64 = 0
    while index + 8 <= bytes.count {
      bits |= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index += 8
    }
    while index < bytes.count {
      bits |= UInt64(bytes[index])
      index += 1
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  /// The text of ASCII bytes.
  static func string(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: bytes.count) { buffer in
      UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
      return bytes.count
    }
  }

  /// Whether a field's value is visible characters with blanks between them (RFC 9110 §5.5).
  static func isPlainValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first, let last = bytes.last, first > 0x20, last > 0x20 else {
      return bytes.isEmpty
    }
    for byte in bytes where byte < 0x20 || byte > 0x7E { return false }
    return true
  }
}
