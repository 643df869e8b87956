/// Finds the head of a message in arriving bytes.
struct HeadDecoder: Sendable {
  private static let emptyLineLimit = 4

  private let limits: MessageLimits
  private let form: MessageForm
  private var scanner: HeadScanner
  private var emptyLines = 0
  /// Whether the first bytes were found to be those of a head.
  private var hasBegun = false

  init(limits: MessageLimits, form: MessageForm) {
    self.limits = limits
    self.form = form
    scanner = HeadScanner(isLenient: form == .lenient)
  }

  /// The range of the head in `bytes`, with its empty line; nil until it has arrived.
  ///
  /// - Parameter bytes: all bytes since the end of the previous message, those of earlier calls included.
  /// - Throws: `ProtocolViolation` for bytes that cannot begin a head, and for a head beyond the limits.
  mutating func range(in bytes: UnsafeRawBufferPointer) throws(ProtocolViolation) -> Range<Int>? {
    if !hasBegun {
      skipEmptyLines(in: bytes)
      // A single CR may be the first half of an empty line.
      let rest = UnsafeRawBufferPointer(rebasing: bytes[(2 * emptyLines)...])
      guard let first = rest.first, first != 0x0D || rest.count > 1 || !mayBeginWithEmptyLine else {
        return nil
      }
      hasBegun = try begins(rest, first)
    }
    let start = 2 * emptyLines
    let head = UnsafeRawBufferPointer(rebasing: bytes[start...])
    return try scanner.end(in: head, limits: limits).map { start..<(start + $0) }
  }

  /// Whether the connection may end here: only empty lines have arrived.
  ///
  /// - Parameter bytes: the bytes of the last call of `range`.
  func mayEnd(after bytes: UnsafeRawBufferPointer) -> Bool { bytes.count == 2 * emptyLines }

  private var mayBeginWithEmptyLine: Bool { form == .request && emptyLines < Self.emptyLineLimit }

  private mutating func skipEmptyLines(in bytes: UnsafeRawBufferPointer) {
    while mayBeginWithEmptyLine {
      let start = 2 * emptyLines
      guard bytes.count >= start + 2, bytes[start] == 0x0D, bytes[start + 1] == 0x0A else { return }
      emptyLines += 1
    }
  }

  /// Whether enough bytes have arrived to tell that a head begins.
  ///
  /// - Throws: `ProtocolViolation` for another beginning: it cannot become a head, however many bytes arrive.
  private func begins(_ bytes: UnsafeRawBufferPointer, _ first: UInt8) throws(ProtocolViolation) -> Bool {
    switch form {
    case .request:
      guard first > 0x20, first < 0x7F else {
        throw ProtocolViolation("an invalid request line (RFC 9112 §3)")
      }
      return true
    case .response, .lenient:
      let name: StaticString = "HTTP/"
      let isSame = (0..<min(bytes.count, name.utf8CodeUnitCount)).allSatisfy {
        bytes[$0] == name.utf8Start[$0]
      }
      guard isSame else { throw ProtocolViolation("an invalid status line (RFC 9112 §4)") }
      return bytes.count >= name.utf8CodeUnitCount
    }
  }
}
