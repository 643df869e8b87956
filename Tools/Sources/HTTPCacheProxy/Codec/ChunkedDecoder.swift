import HTTPTypes

/// Decodes the chunked transfer coding (RFC 9112 §7.1).
struct ChunkedDecoder: Sendable {
  private enum State {
    case sizeStart
    case size(Int64, digits: Int)
    case sizeBlank(Int64)
    case extensions(Int64)
    case sizeEnd(Int64)
    case data(Int64)
    case dataCR
    case dataLF
    case trailers
    case done
  }

  /// Maximum number of bytes of chunk extensions, and of zeros in front of sizes, beyond the allowance: 16 for each
  /// chunk, and 2 for each of its bytes.
  private static let extensionLimit: Int64 = 16 << 10

  private var state = State.sizeStart
  /// The bytes of extensions and zeros so far, minus the allowance of the chunks so far.
  private var extensionBytes: Int64 = 0
  private var trailerBytes: [UInt8] = []
  private var scanner: HeadScanner
  private let limits: MessageLimits
  private let form: MessageForm
  private(set) var trailers = HTTPFields()

  init(limits: MessageLimits, form: MessageForm) {
    self.limits = limits
    self.form = form
    scanner = HeadScanner(isLenient: form == .lenient)
  }

  var isComplete: Bool { if case .done = state { true } else { false } }

  /// Number of bytes that the decoder keeps between calls.
  var keptBytes: Int { trailerBytes.count }

  /// Finds the next content in bytes as they arrive; nil if it needs more, or at the end.
  ///
  /// - Parameters:
  ///   - bytes: the received bytes; from `position` on they were not used by earlier calls.
  ///   - position: moved to the first unused byte.
  /// - Returns: the range of the content in `bytes`.
  /// - Throws: `ProtocolViolation`.
  mutating func next(
    _ bytes: UnsafeRawBufferPointer, _ position: inout Int
  ) throws(ProtocolViolation) -> Range<Int>? {
    while position < bytes.count {
      switch state {
      case .done: return nil
      case .data(let remaining):
        let start = position
        position += Int(min(remaining, Int64(bytes.count - start)))
        let left = remaining - Int64(position - start)
        state = left == 0 ? .dataCR : .data(left)
        return start..<position
      case .trailers:
        if try readTrailers(bytes, &position) { state = .done }
      default:
        position += 1
        try step(bytes[position - 1])
      }
    }
    return nil
  }

  private mutating func step(_ byte: UInt8) throws(ProtocolViolation) {
    if form == .lenient, byte == 0x0A, endLine() { return }
    switch (state, byte) {
    case (.sizeStart, _):
      state = .size(Int64(try Self.digit(byte)), digits: 1)
    case (.size(let size, _), 0x0D): state = .sizeEnd(size)
    case (.size(let size, _), 0x20), (.size(let size, _), 0x09): state = .sizeBlank(size)
    case (.size(let size, _), 0x3B), (.sizeBlank(let size), 0x3B): state = .extensions(size)
    case (.size(0, _), _):
      // Any number of zeros may stand in front (RFC 9112 §7.1). They are bounded as extensions are.
      state = .size(Int64(try Self.digit(byte)), digits: 1)
      try countExtension()
    case (.size(let size, let digits), _):
      guard digits < 15 else {
        throw ProtocolViolation("a chunk size of more than 15 digits (RFC 9112 §7.1)")
      }
      state = .size(size << 4 | Int64(try Self.digit(byte)), digits: digits + 1)
    case (.extensions(let size), 0x0D), (.sizeBlank(let size), 0x0D): state = .sizeEnd(size)
    case (.sizeBlank, 0x20), (.sizeBlank, 0x09): try countExtension()
    case (.sizeBlank, _):
      // Another reader may read "1 0" as 16.
      throw ProtocolViolation("a chunk size followed by something other than an extension (RFC 9112 §7.1.1)")
    case (.extensions, _):
      guard byte != 0x0A, byte != 0 else {
        throw ProtocolViolation("NUL or LF in a chunk extension (RFC 9112 §7.1.1)")
      }
      try countExtension()
    case (.sizeEnd(let size), 0x0A): endSize(size)
    case (.dataCR, 0x0D): state = .dataLF
    case (.dataLF, 0x0A): state = .sizeStart
    default: throw ProtocolViolation("a chunk that does not end after its size (RFC 9112 §7.1)")
    }
  }

  private mutating func endSize(_ size: Int64) {
    extensionBytes = max(0, extensionBytes - 16 - 2 * size)
    state = size == 0 ? .trailers : .data(size)
  }

  /// Ends a line at an LF without a CR.
  ///
  /// - Returns: whether a line may end here.
  private mutating func endLine() -> Bool {
    switch state {
    case .size(let size, _), .sizeBlank(let size), .extensions(let size): endSize(size)
    case .dataCR: state = .sizeStart
    case .sizeStart, .sizeEnd, .data, .dataLF, .trailers, .done: return false
    }
    return true
  }

  private mutating func countExtension() throws(ProtocolViolation) {
    extensionBytes += 1
    guard extensionBytes <= Self.extensionLimit else {
      throw ProtocolViolation("too many bytes of chunk extensions for this content (RFC 9112 §7.1.1)")
    }
  }

  private static func digit(_ byte: UInt8) throws(ProtocolViolation) -> UInt8 {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: throw ProtocolViolation("an invalid chunk size (RFC 9112 §7.1)")
    }
  }

  /// Reads the trailer section, and moves `position` to its end.
  private mutating func readTrailers(
    _ arrived: UnsafeRawBufferPointer, _ position: inout Int
  ) throws(ProtocolViolation) -> Bool {
    let before = trailerBytes.count
    trailerBytes.append(contentsOf: arrived[position...].prefix(max(0, limits.headBytes + 1 - before)))
    let found = try trailerBytes.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
      try scanner.end(in: UnsafeRawBufferPointer(bytes), limits: limits)
    }
    guard let end = found else {
      position = arrived.count
      return false
    }
    position += end - before
    trailers = try fields(in: trailerBytes[..<end])
    trailerBytes = []
    return true
  }

  private func fields(in section: ArraySlice<UInt8>) throws(ProtocolViolation) -> HTTPFields {
    let parser = FieldParser(trimsNames: form != .request, limits: limits)
    let section = form == .lenient ? LenientHead.normalised(section, startLines: 0)[...] : section
    return try section.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
      try parser.fields(in: UnsafeRawBufferPointer(bytes))
    }
  }
}
