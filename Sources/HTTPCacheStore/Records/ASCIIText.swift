/// Text that is ASCII, as nearly all of a record is, without the way of the general decoder.
enum ASCIIText {
  /// Whether all bytes are ASCII.
  static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    var bits: UInt64 = 0
    while index &+ 8 <= bytes.count {
      bits |= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    while index < bytes.count {
      bits |= UInt64(bytes[index])
      index &+= 1
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
    // Eight at once: the highest bit of a byte, or of it less 0x20, or of it and 1, tells of the first that
    // is none; what it borrows from others or carries into them comes after that.
    var index = 0
    var bits: UInt64 = 0
    while index &+ 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      bits |= word | (word &- 0x2020_2020_2020_2020) | (word &+ 0x0101_0101_0101_0101)
      index &+= 8
    }
    while index < bytes.count {
      let byte = bytes[index]
      bits |= UInt64(byte | (byte &- 0x20) | (byte &+ 1))
      index &+= 1
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }
}
