import HTTPTypes

/// Finds a message's content in the bytes of a connection.
struct BodyDecoder: Sendable {
  private enum State {
    case length(Int64)
    case chunked(ChunkedDecoder)
    case untilClose
    /// As many bytes, or any number, up to the end of a stream of HTTP/2.
    case stream(Int64?)
    case done
  }

  private var state: State
  private(set) var trailers = HTTPFields()

  /// - Parameter isStream: whether the bytes are those of a stream of HTTP/2: its end is the end of the message, however
  ///   many bytes have come (RFC 9113 §8.1), and trailers may come before it.
  init(_ framing: Framing, limits: MessageLimits, form: MessageForm, isStream: Bool = false) {
    if isStream {
      state = .stream(framing.length)
      return
    }
    switch framing {
    case .none, .length(0): state = .done
    case .length(let length): state = .length(length)
    case .chunked: state = .chunked(ChunkedDecoder(limits: limits, form: form))
    case .untilClose: state = .untilClose
    }
  }

  private static var tooLong: ProtocolViolation {
    ProtocolViolation("more content than Content-Length says (RFC 9113 §8.1.1)")
  }

  var isComplete: Bool { if case .done = state { true } else { false } }

  /// Whether all of the announced content has come, and the end of its stream has not.
  var awaitsEndAlone: Bool { if case .stream(0) = state { true } else { false } }

  /// Whether the content arrives in chunks that are not all read yet.
  var isChunked: Bool { if case .chunked = state { true } else { false } }

  /// Number of bytes that the decoder keeps between calls.
  var keptBytes: Int { if case .chunked(let decoder) = state { decoder.keptBytes } else { 0 } }

  /// Finds the next content in bytes as they arrive; nil if it needs more, or at the end.
  ///
  /// - Parameters:
  ///   - bytes: the received bytes; from `position` on they were not used by earlier calls.
  ///   - position: moved to the first unused byte; bytes of the next message come after it.
  /// - Returns: the range of the content in `bytes`.
  /// - Throws: `ProtocolViolation`.
  mutating func next(
    _ bytes: UnsafeRawBufferPointer, _ position: inout Int
  ) throws(ProtocolViolation) -> Range<Int>? {
    let start = position
    switch state {
    case .done: return nil
    case .untilClose:
      position = bytes.count
    case .stream(let remaining):
      position = bytes.count
      let left = remaining.map { $0 - Int64(position - start) }
      if let left, left < 0 { throw Self.tooLong }
      state = .stream(left)
    case .length(let remaining):
      position += Int(min(remaining, Int64(bytes.count - start)))
      let left = remaining - Int64(position - start)
      state = left == 0 ? .done : .length(left)
    case .chunked(var decoder):
      state = .done
      defer {
        if decoder.isComplete { trailers = decoder.trailers } else { state = .chunked(decoder) }
      }
      return try decoder.next(bytes, &position)
    }
    return start == position ? nil : start..<position
  }

  /// Ends decoding at the end of the connection.
  ///
  /// - Throws: `ProtocolViolation` if the message is incomplete.
  mutating func end() throws(ProtocolViolation) {
    switch state {
    case .done: break
    case .untilClose, .stream(nil), .stream(0): state = .done
    case .length(let remaining), .stream(let remaining?):
      throw ProtocolViolation("the connection ended \(remaining) bytes early (RFC 9112 §8)")
    case .chunked: throw ProtocolViolation("the connection ended before the last chunk (RFC 9112 §8)")
    }
  }
}
