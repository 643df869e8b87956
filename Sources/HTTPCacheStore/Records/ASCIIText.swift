/// A fast path for ASCII text, which is nearly all text of a record.
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

  /// Whether a field's value consists of visible characters, with blanks only between them (RFC 9110 §5.5).
  static func isPlainValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first, let last = bytes.last, first > 0x20, last > 0x20 else {
      return bytes.isEmpty
    }
    // Eight bytes at once: the highest bit of a byte, of the byte less 0x20, or of the byte and 1 marks the
    // first byte that does not fit. A borrow or carry only affects later bytes.
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
