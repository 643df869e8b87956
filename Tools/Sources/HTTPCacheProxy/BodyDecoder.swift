import HTTPTypes
import NIOCore

/// Takes a message's content out of a connection's bytes.
struct BodyDecoder: Sendable {
  private enum State {
    case length(Int64)
    case chunked(ChunkedDecoder)
    case untilClose
    case done
  }

  private var state: State
  private(set) var trailers = HTTPFields()

  init(_ framing: Framing, limits: MessageLimits, trimsNames: Bool) {
    switch framing {
    case .none, .length(0): state = .done
    case .length(let length): state = .length(length)
    case .chunked: state = .chunked(ChunkedDecoder(limits: limits, trimsNames: trimsNames))
    case .untilClose: state = .untilClose
    }
  }

  var isComplete: Bool { if case .done = state { true } else { false } }

  /// Takes the next bytes of content; nil if it needs more, or at the end. What belongs to the next
  /// message stays in `buffer`.
  ///
  /// - Throws: `ProtocolViolation`.
  mutating func next(_ buffer: inout ByteBuffer) throws(ProtocolViolation) -> ByteBuffer? {
    switch state {
    case .done: return nil
    case .untilClose: return buffer.readSlice(length: buffer.readableBytes)
    case .length(let remaining):
      let count = Int(min(remaining, Int64(buffer.readableBytes)))
      let left = remaining - Int64(count)
      state = left == 0 ? .done : .length(left)
      return buffer.readSlice(length: count)
    case .chunked(var decoder):
      state = .done
      defer {
        if decoder.isComplete { trailers = decoder.trailers } else { state = .chunked(decoder) }
      }
      guard var content = try decoder.next(&buffer) else { return nil }
      // Many small chunks become one piece; one large piece is passed on as it is.
      while content.readableBytes < 16 << 10, var more = try decoder.next(&buffer) {
        content.writeBuffer(&more)
      }
      return content
    }
  }

  /// The connection has ended.
  ///
  /// - Throws: `ProtocolViolation` if the message has not.
  mutating func end() throws(ProtocolViolation) {
    switch state {
    case .done: break
    case .untilClose: state = .done
    case .length(let remaining):
      throw ProtocolViolation("the connection ended \(remaining) bytes early (RFC 9112 §8)")
    case .chunked: throw ProtocolViolation("the connection ended before the last chunk (RFC 9112 §8)")
    }
  }
}
