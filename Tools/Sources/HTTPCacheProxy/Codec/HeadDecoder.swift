/// Finds a message's head in the bytes of a connection as they arrive.
struct HeadDecoder: Sendable {
  /// Which side sent the message.
  enum Sender: Sendable {
    /// A client: up to four empty lines before the request line are skipped (RFC 9112 §2.2).
    case client
    /// An origin.
    case origin
  }

  private static let emptyLineLimit = 4

  private let sender: Sender
  private let limits: MessageLimits
  private var scanner = HeadScanner()
  private var emptyLines = 0
  private var hasFirstByte = false

  init(from sender: Sender, limits: MessageLimits) {
    self.sender = sender
    self.limits = limits
  }

  /// Where the head lies in `bytes`, with its empty line; nil while it has not arrived.
  ///
  /// - Parameter bytes: all bytes since the end of the message before, also those of earlier calls.
  /// - Throws: `ProtocolViolation` for bytes that begin no head, and for one beyond the limits.
  mutating func range(in bytes: UnsafeRawBufferPointer) throws(ProtocolViolation) -> Range<Int>? {
    if !hasFirstByte {
      skipEmptyLines(in: bytes)
      // A CR alone may become an empty line.
      let rest = UnsafeRawBufferPointer(rebasing: bytes[(2 * emptyLines)...])
      guard let first = rest.first, first != 0x0D || rest.count > 1 || !mayBeginWithEmptyLine else {
        return nil
      }
      try check(first)
      hasFirstByte = true
    }
    let start = 2 * emptyLines
    let end = try scanner.end(in: UnsafeRawBufferPointer(rebasing: bytes[start...]), limits: limits)
    return end.map { start..<(start + $0) }
  }

  /// Whether the connection may end here: nothing but empty lines has arrived.
  ///
  /// - Parameter bytes: those of the last call of `range`.
  func mayEnd(after bytes: UnsafeRawBufferPointer) -> Bool { bytes.count == 2 * emptyLines }

  private var mayBeginWithEmptyLine: Bool { sender == .client && emptyLines < Self.emptyLineLimit }

  private mutating func skipEmptyLines(in bytes: UnsafeRawBufferPointer) {
    while mayBeginWithEmptyLine {
      let start = 2 * emptyLines
      guard bytes.count >= start + 2, bytes[start] == 0x0D, bytes[start + 1] == 0x0A else { return }
      emptyLines += 1
    }
  }

  /// What begins otherwise cannot become a head, however much of it arrives.
  private func check(_ first: UInt8) throws(ProtocolViolation) {
    switch sender {
    case .client:
      guard first > 0x20, first < 0x7F else {
        throw ProtocolViolation("an invalid request line (RFC 9112 §3)")
      }
    case .origin:
      guard first == 0x48 else { throw ProtocolViolation("an invalid status line (RFC 9112 §4)") }
    }
  }
}
