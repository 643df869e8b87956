import HTTPTypes

/// The messages that the codec of `httpcache serve` reads from one direction of a connection.
struct HTTP1Transcript: Equatable {
  /// The sender of the bytes: a client with requests, or a server with responses to GET or to HEAD.
  enum Direction {
    case requests, responses, responsesToHead

    var form: MessageForm { self == .requests ? .request : .response }
  }

  struct Message: Equatable {
    /// The name in lower case, a colon, and the value.
    var fields: [[UInt8]]
    var framing: Framing
    var content: [UInt8] = []
    var trailers: [[UInt8]] = []
    var isComplete = false
  }

  enum Ending: Equatable {
    case complete
    case incomplete
    case refused(status: Int, String)
  }

  private enum Phase {
    case head(HeadDecoder)
    case body(BodyDecoder)
  }

  static let limits = MessageLimits(headBytes: 1_024, fieldCount: 12, targetBytes: 200)

  private(set) var messages: [Message] = []
  private(set) var ending = Ending.incomplete

  /// Decodes bytes that arrive in pieces.
  ///
  /// - Parameter size: the size of the next piece in bytes, at least 1.
  /// - Throws: `PropertyViolation` if the codec keeps more than its limits.
  init(
    _ input: UnsafeRawBufferPointer, _ direction: Direction, pieces size: () -> Int
  ) throws(PropertyViolation) {
    var pending: [UInt8] = []
    var phase = Phase.head(Self.headDecoder(direction))
    var start = 0
    do throws(ProtocolViolation) {
      while start < input.count {
        let end = min(input.count, start + size())
        pending += input[start..<end]
        start = end
        while try step(&phase, &pending, direction) {}
        if !isBounded(phase, pending) {
          ending = .refused(status: 0, "keeps \(pending.count) bytes")
          break
        }
      }
      if case .incomplete = ending { ending = try Self.ending(phase, pending) }
      if case .body(let decoder) = phase, ending == .complete, !decoder.isComplete, !messages.isEmpty {
        messages[messages.count - 1].isComplete = true
      }
    } catch {
      ending = .refused(status: error.status.code, error.description)
    }
    if case .refused(status: 0, let reason) = ending { throw PropertyViolation(description: reason) }
  }

  private static func headDecoder(_ direction: Direction) -> HeadDecoder {
    HeadDecoder(limits: limits, form: direction.form)
  }

  /// Decodes as far as possible; false if more bytes are needed.
  private mutating func step(
    _ phase: inout Phase, _ pending: inout [UInt8], _ direction: Direction
  ) throws(ProtocolViolation) -> Bool {
    switch phase {
    case .head(var decoder):
      let found = try pending.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
        try decoder.range(in: UnsafeRawBufferPointer(bytes))
      }
      phase = .head(decoder)
      guard let range = found else { return false }
      let (message, body) = try pending.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
        try Self.head(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[range])), direction)
      }
      pending.removeFirst(range.upperBound)
      messages.append(message)
      phase = .body(body)
      return true
    case .body(var decoder):
      var position = 0
      var content: [UInt8] = []
      defer {
        messages[messages.count - 1].content += content
        pending.removeFirst(position)
      }
      let isMore = try pending.withUnsafeBufferPointer { bytes throws(ProtocolViolation) in
        guard let range = try decoder.next(UnsafeRawBufferPointer(bytes), &position) else { return false }
        content += bytes[range]
        return true
      }
      phase = .body(decoder)
      guard decoder.isComplete else { return isMore }
      messages[messages.count - 1].isComplete = true
      messages[messages.count - 1].trailers = Self.lines(decoder.trailers)
      phase = .head(Self.headDecoder(direction))
      return !pending.dropFirst(position).isEmpty
    }
  }

  private static func head(
    _ bytes: UnsafeRawBufferPointer, _ direction: Direction
  ) throws(ProtocolViolation) -> (Message, BodyDecoder) {
    let fields: HTTPFields
    let framing: Framing
    if direction == .requests {
      let head = try RequestHead(bytes, limits: limits)
      fields = head.fields
      framing = try head.framing()
      _ = (head.isPersistent, head.expectsContinue, try? RequestTarget(head.target, method: head.method))
    } else {
      let head = try ResponseHead(bytes, limits: limits)
      fields = head.fields
      framing = try head.framing(for: direction == .responsesToHead ? .head : .get)
      _ = head.isPersistent
    }
    let decoder = BodyDecoder(framing, limits: limits, form: direction.form)
    return (Message(fields: lines(fields), framing: framing), decoder)
  }

  private static func lines(_ fields: HTTPFields) -> [[UInt8]] {
    fields.map { field in
      Array(field.name.canonicalName.utf8) + [0x3A] + field.withUnsafeBytesOfValue { Array($0) }
    }
  }

  /// Whether the waiting bytes are within the limits: a head with the empty lines before it, or trailers.
  private func isBounded(_ phase: Phase, _ pending: [UInt8]) -> Bool {
    switch phase {
    case .head: pending.count <= Self.limits.headBytes + 8
    case .body(let decoder): pending.isEmpty && decoder.keptBytes <= Self.limits.headBytes
    }
  }

  /// Ends the connection.
  private static func ending(_ phase: Phase, _ pending: [UInt8]) throws(ProtocolViolation) -> Ending {
    switch phase {
    case .head(let decoder):
      return pending.withUnsafeBytes { decoder.mayEnd(after: $0) } ? .complete : .incomplete
    case .body(var decoder):
      do throws(ProtocolViolation) { try decoder.end() } catch { return .incomplete }
      return .complete
    }
  }
}
