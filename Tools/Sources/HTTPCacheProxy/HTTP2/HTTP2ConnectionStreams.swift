import NIOCore
import NIOHTTP2

/// The streams of a client's connection over HTTP/2 that have begun and not ended.
struct HTTP2ConnectionStreams {
  /// A stream that got its whole answer without a channel of its own.
  private struct Answered {
    let id: HTTP2StreamID
    /// The bytes of the answer.
    let size: Int
    /// When the client must have taken them.
    let deadline: NIODeadline
  }

  /// The kind of a stream that has ended.
  enum Ended {
    case exchange(CountedExchange)
    case answered
    /// A malformed request ends a stream that never began.
    case unknown
  }

  /// The streams with a channel of their own. Each is an exchange of the client.
  private(set) var exchanges: [HTTP2StreamID: CountedExchange] = [:]
  /// Few, so that an array is faster than a set; the earliest deadline first.
  private var answered: [Answered] = []
  /// The last stream that began: a later block of fields has its trailers.
  private var latest = HTTP2StreamID.rootStream
  /// Bytes of answers that wait for the client. An answer counts until its stream ends, when the last byte has left.
  private(set) var waitingBytes = 0

  var isEmpty: Bool { exchanges.isEmpty && answered.isEmpty }

  /// When the next answer must have left; nil if none waits.
  var nextDeadline: NIODeadline? { answered.first?.deadline }

  /// Whether a block of fields begins a stream.
  mutating func begins(_ id: HTTP2StreamID) -> Bool {
    guard id > latest else { return false }
    latest = id
    return true
  }

  func isAnswered(_ id: HTTP2StreamID) -> Bool { answered.contains { $0.id == id } }

  mutating func addExchange(_ id: HTTP2StreamID, _ counted: CountedExchange) { exchanges[id] = counted }

  mutating func addAnswered(_ id: HTTP2StreamID, size: Int, deadline: NIODeadline) {
    // Behind those with an earlier deadline: the limit of a route may be shorter than that of the answers before.
    let place = answered.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
    answered.insert(Answered(id: id, size: size, deadline: deadline), at: place)
    waitingBytes += size
  }

  mutating func end(_ id: HTTP2StreamID) -> Ended {
    if let index = answered.firstIndex(where: { $0.id == id }) {
      waitingBytes -= answered.remove(at: index).size
      return .answered
    }
    return exchanges.removeValue(forKey: id).map { .exchange($0) } ?? .unknown
  }

  /// The streams whose answers have not left in time.
  func late(at now: NIODeadline) -> [HTTP2StreamID] {
    answered.prefix { $0.deadline <= now }.map(\.id)
  }
}
