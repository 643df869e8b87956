/// Reads replies from bytes that arrive in pieces of any length. Its memory is bounded by `RESPLimits` and by the bytes
/// that arrived, whatever lengths are announced.
struct RESPDecoder: Sendable {
  private enum Expected {
    /// The first octet of a value, and the rest of its line.
    case line
    /// This many bytes of a bulk string, and its end of line.
    case bulk(remaining: Int)
    /// The end of line of a bulk string: 2 octets or 1.
    case end(remaining: Int)
  }

  private struct Frame {
    var remaining: Int
    var elements: [RESPValue] = []
  }

  /// The most elements or bytes for which space is reserved before they arrive.
  private static let reserved = 512

  private let limits: RESPLimits
  private var expected = Expected.line
  private var line: [UInt8] = []
  private var bulk: [UInt8] = []
  private var frames: [Frame] = []
  /// The values and bytes of the reply so far.
  private var values = 0
  private var bytes = 0
  private var failure: RESPFailure?

  init(limits: RESPLimits = RESPLimits()) { self.limits = limits }

  /// Takes the next bytes.
  ///
  /// - Parameter receive: called with each reply that is complete, in order.
  /// - Throws: `RESPFailure` for bytes that are no reply; then for all later bytes, too.
  mutating func decode(
    _ input: UnsafeRawBufferPointer, _ receive: (RESPValue) -> Void
  ) throws(RESPFailure) {
    if let failure { throw failure }
    do {
      try read(input, receive)
    } catch {
      failure = error
      line = []
      bulk = []
      frames = []
      throw error
    }
  }

  private mutating func read(
    _ input: UnsafeRawBufferPointer, _ receive: (RESPValue) -> Void
  ) throws(RESPFailure) {
    var rest = input.bindMemory(to: UInt8.self)
    while !rest.isEmpty {
      switch expected {
      case .line:
        guard let end = rest.firstIndex(of: 0x0A) else {
          try extendLine(rest)
          return
        }
        try extendLine(UnsafeBufferPointer(rebasing: rest[..<end]))
        rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
        try finishLine(receive)
      case .bulk(let remaining):
        let part = UnsafeBufferPointer(rebasing: rest.prefix(remaining))
        bulk.append(contentsOf: part)
        rest = UnsafeBufferPointer(rebasing: rest[part.count...])
        expected = part.count == remaining ? .end(remaining: 2) : .bulk(remaining: remaining - part.count)
      case .end(let remaining):
        guard rest.first == (remaining == 2 ? 0x0D : 0x0A) else {
          throw RESPFailure("a bulk string is longer than announced")
        }
        rest = UnsafeBufferPointer(rebasing: rest[1...])
        if remaining == 2 {
          expected = .end(remaining: 1)
        } else {
          expected = .line
          let value = RESPValue.bulk(bulk)
          bulk = []
          add(value, receive)
        }
      }
    }
  }

  private mutating func extendLine(_ part: UnsafeBufferPointer<UInt8>) throws(RESPFailure) {
    guard part.count <= limits.line - line.count else {
      throw RESPFailure("a line of more than \(limits.line) bytes")
    }
    line.append(contentsOf: part)
  }

  private mutating func finishLine(_ receive: (RESPValue) -> Void) throws(RESPFailure) {
    let line = self.line
    self.line = []
    guard line.count >= 2, line.last == 0x0D else { throw RESPFailure("a line without a carriage return") }
    values += 1
    guard values <= limits.values else { throw RESPFailure("a reply of more than \(limits.values) values") }
    let text = line[1..<(line.count - 1)]
    switch line[0] {
    case UInt8(ascii: "+"):
      try count(text.count)
      add(.simple(Array(text)), receive)
    case UInt8(ascii: "-"):
      try count(text.count)
      add(.error(String(decoding: text, as: UTF8.self)), receive)
    case UInt8(ascii: ":"):
      guard let number = RESPNumber.parse(text) else { throw RESPFailure("an integer that is none") }
      add(.integer(number), receive)
    case UInt8(ascii: "$"): try beginBulk(text, receive)
    case UInt8(ascii: "*"): try beginArray(text, receive)
    default: throw RESPFailure("a reply of an unknown kind")
    }
  }

  private mutating func beginBulk(
    _ text: ArraySlice<UInt8>, _ receive: (RESPValue) -> Void
  ) throws(RESPFailure) {
    guard let length = RESPNumber.parse(text), length >= -1 else {
      throw RESPFailure("a length that is none")
    }
    guard length >= 0 else { return add(.null, receive) }
    guard length <= Int64(limits.bulk) else { throw RESPFailure("a bulk string of \(length) bytes") }
    try count(Int(length))
    bulk = []
    // A length is a promise; only part of it is believed before the bytes come.
    bulk.reserveCapacity(min(Int(length), Self.reserved * Self.reserved))
    expected = length == 0 ? .end(remaining: 2) : .bulk(remaining: Int(length))
  }

  /// Counts the bytes of a string.
  private mutating func count(_ length: Int) throws(RESPFailure) {
    guard length <= limits.bytes - bytes else {
      throw RESPFailure("a reply with strings of more than \(limits.bytes) bytes")
    }
    bytes += length
  }

  private mutating func beginArray(
    _ text: ArraySlice<UInt8>, _ receive: (RESPValue) -> Void
  ) throws(RESPFailure) {
    guard let count = RESPNumber.parse(text), count >= -1 else { throw RESPFailure("a count that is none") }
    guard count >= 0 else { return add(.null, receive) }
    guard count > 0 else { return add(.array([]), receive) }
    guard count <= Int64(limits.values - values) else { throw RESPFailure("an array of \(count) values") }
    guard frames.count < limits.depth else {
      throw RESPFailure("more than \(limits.depth) arrays in each other")
    }
    var frame = Frame(remaining: Int(count))
    frame.elements.reserveCapacity(min(Int(count), Self.reserved))
    frames.append(frame)
  }

  /// Adds a value to the innermost array, or to the replies; ends the arrays that it completes.
  private mutating func add(_ value: RESPValue, _ receive: (RESPValue) -> Void) {
    var value = value
    while let last = frames.indices.last {
      frames[last].elements.append(value)
      frames[last].remaining -= 1
      guard frames[last].remaining == 0 else { return }
      value = .array(frames.removeLast().elements)
    }
    values = 0
    bytes = 0
    receive(value)
  }
}

/// The sizes that a decoder accepts. A reply beyond a limit ends the connection: no command has such a reply.
struct RESPLimits: Sendable, Hashable {
  /// The longest line in bytes: a simple string, an error, a number or a length.
  var line = 8_192
  /// The longest bulk string in bytes.
  var bulk = 4 << 20
  /// The bytes of all strings of one reply, errors included.
  var bytes = 64 << 20
  /// The values of one reply, those in arrays included.
  var values = 400_000
  /// The arrays around a value.
  var depth = 8
}

/// Bytes that are no reply, or a reply beyond the limits.
struct RESPFailure: Error, Hashable {
  /// The fault.
  let message: String

  init(_ message: String) { self.message = message }
}
