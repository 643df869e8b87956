import HTTPTypes
import NIOCore

/// Takes off the chunked transfer coding (RFC 9112 §7.1).
struct ChunkedDecoder: Sendable {
  private enum State {
    case sizeStart
    case size(Int64, digits: Int)
    case extensions(Int64)
    case sizeEnd(Int64)
    case data(Int64)
    case dataCR
    case dataLF
    case trailers
    case done
  }

  private static let extensionLimit = 16 << 10

  private var state = State.sizeStart
  private var extensionBytes = 0
  private var trailerBytes: [UInt8] = []
  private var scanner = HeadScanner()
  private let limits: MessageLimits
  private let trimsNames: Bool
  private(set) var trailers = HTTPFields()

  init(limits: MessageLimits, trimsNames: Bool) {
    self.limits = limits
    self.trimsNames = trimsNames
  }

  var isComplete: Bool { if case .done = state { true } else { false } }

  /// Takes the next bytes of content out of `buffer`; nil if it needs more, or at the end.
  ///
  /// - Throws: `ProtocolViolation`.
  mutating func next(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> ByteBuffer? {
    while buffer.readableBytes > 0 {
      switch state {
      case .done: return nil
      case .data(let remaining):
        let count = Int(min(remaining, Int64(buffer.readableBytes)))
        let left = remaining - Int64(count)
        state = left == 0 ? .dataCR : .data(left)
        return buffer.readSlice(length: count)
      case .trailers:
        if try readTrailers(&buffer) { state = .done }
      default:
        guard let byte = buffer.readInteger(as: UInt8.self) else { return nil }
        try step(byte)
      }
    }
    return nil
  }

  private mutating func step(_ byte: UInt8) throws(ProtocolViolation) {
    switch (state, byte) {
    case (.sizeStart, _):
      state = .size(Int64(try Self.digit(byte)), digits: 1)
    case (.size(let size, _), 0x0D): state = .sizeEnd(size)
    case (.size(let size, _), 0x3B), (.size(let size, _), 0x20), (.size(let size, _), 0x09):
      state = .extensions(size)
    case (.size(let size, let digits), _):
      guard digits < 15 else { throw ProtocolViolation("a chunk size beyond all measure (RFC 9112 §7.1)") }
      state = .size(size << 4 | Int64(try Self.digit(byte)), digits: digits + 1)
    case (.extensions(let size), 0x0D): state = .sizeEnd(size)
    case (.extensions, _):
      extensionBytes += 1
      guard byte != 0x0A, byte != 0, extensionBytes <= Self.extensionLimit else {
        throw ProtocolViolation("a chunk extension that is none, or too long (RFC 9112 §7.1.1)")
      }
    case (.sizeEnd(let size), 0x0A):
      extensionBytes = 0
      state = size == 0 ? .trailers : .data(size)
    case (.dataCR, 0x0D): state = .dataLF
    case (.dataLF, 0x0A): state = .sizeStart
    default: throw ProtocolViolation("a chunk that does not end where it says (RFC 9112 §7.1)")
    }
  }

  private static func digit(_ byte: UInt8) throws(ProtocolViolation) -> UInt8 {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: throw ProtocolViolation("a chunk size that is no number (RFC 9112 §7.1)")
    }
  }

  /// Reads the trailer section; what follows it stays in `buffer`.
  private mutating func readTrailers(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> Bool {
    let before = trailerBytes.count
    trailerBytes.append(
      contentsOf: buffer.readableBytesView.prefix(max(0, limits.headBytes + 1 - before)))
    let end = try trailerBytes.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
      try scanner.end(in: UnsafeRawBufferPointer(bytes), limits: limits)
    }
    guard let end else {
      buffer.moveReaderIndex(to: buffer.writerIndex)
      return false
    }
    buffer.moveReaderIndex(forwardBy: end - before)
    let parser = FieldParser(trimsNames: trimsNames, limits: limits)
    trailers = try trailerBytes.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
      try parser.fields(in: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<end]))
    }
    trailerBytes = []
    return true
  }
}
