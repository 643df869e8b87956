import HTTPCacheLibC
import HTTPTypes

/// Finds the end of a head, or of trailers, in arriving bytes, and reads each byte once.
struct HeadScanner {
  /// Whether lines may end in LF alone, and CRs alone are an empty line, as a user agent takes them.
  private let isLenient: Bool
  private var lineStart = 0
  private var position = 0

  init(isLenient: Bool) { self.isLenient = isLenient }

  /// The number of bytes up to and including the empty line; nil until it has arrived.
  ///
  /// - Throws: `ProtocolViolation` beyond the limits, and for a line feed without a carriage return unless the scanner is
  ///   lenient. RFC 9112 §2.2 allows to accept it as the end of a line, but request smuggling uses it.
  mutating func end(
    in bytes: UnsafeRawBufferPointer, limits: MessageLimits
  ) throws(ProtocolViolation) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    // Do not read beyond the limit, so that the result does not depend on how the bytes are split.
    let searched = min(bytes.count, limits.headBytes)
    while position < searched {
      guard let found = memchr(base + position, 0x0A, searched - position) else {
        position = searched
        break
      }
      let index = base.distance(to: UnsafeRawPointer(found))
      let line = bytes[lineStart..<index]
      guard isLenient || line.last == 0x0D else {
        throw ProtocolViolation("a line ends in LF without CR (RFC 9112 §2.2)")
      }
      position = index + 1
      if isLenient ? line.allSatisfy({ $0 == 0x0D }) : line.count == 1 { return position }
      lineStart = position
    }
    guard bytes.count <= limits.headBytes else {
      throw ProtocolViolation(
        "the head is larger than \(limits.headBytes) bytes", status: .requestHeaderFieldsTooLarge)
    }
    return nil
  }
}
