#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Finds the end of a head as its bytes arrive, each byte looked at once.
struct HeadScanner {
  private var lineStart = 0
  private var position = 0

  /// The number of bytes up to and with the empty line, or nil while it has not arrived.
  ///
  /// - Throws: `ProtocolViolation` for a line feed without a carriage return, which RFC 9112 §2.2
  ///   allows to take as the end of a line and which smuggling lives on.
  mutating func end(
    in bytes: UnsafeRawBufferPointer, limits: MessageLimits
  ) throws(ProtocolViolation) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    // Nothing beyond the limit is looked at, so that the answer does not depend on how the bytes arrive.
    let searched = min(bytes.count, limits.headBytes)
    while position < searched {
      guard let found = memchr(base + position, 0x0A, searched - position) else {
        position = searched
        break
      }
      let index = base.distance(to: UnsafeRawPointer(found))
      guard index > lineStart, bytes[index - 1] == 0x0D else {
        throw ProtocolViolation("a line ends in LF without CR (RFC 9112 §2.2)")
      }
      position = index + 1
      if index == lineStart + 1 { return position }
      lineStart = position
    }
    guard bytes.count <= limits.headBytes else {
      throw ProtocolViolation("the head is larger than \(limits.headBytes) bytes", status: 431)
    }
    return nil
  }
}
