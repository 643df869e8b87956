/// The answer of an origin: a head, then the steps of its body.
struct OriginAnswer: Sendable {
  enum Step: Sendable {
    case bytes([UInt8])
    /// Bytes of `OriginAnswer.pattern`, for bodies too large to keep.
    case pattern(Range<Int64>)
    /// Sends nothing until the latch is open, or the client has gone.
    case hold(Latch)
    /// Closes the connection in the middle.
    case cut
  }

  enum Framing: Sendable {
    /// `Content-Length`: the length of the steps, or another number.
    case length(Int64? = nil)
    case chunked
    case untilClose
  }

  var status = 200
  var fields: [(String, String)] = []
  var steps: [Step] = []
  var framing = Framing.length()
  /// Delays the head until it is open.
  var headLatch: Latch?
  /// Sent instead of everything else; then the connection is closed.
  var raw: [UInt8]?

  var bodyLength: Int64 {
    steps.reduce(0) { sum, step in
      switch step {
      case .bytes(let bytes): sum + Int64(bytes.count)
      case .pattern(let range): sum + Int64(range.count)
      case .hold, .cut: sum
      }
    }
  }

  /// A prime, so that no buffer's size is a multiple of it.
  private static let period: Int64 = 65_521
  private static let periods = (0..<2).flatMap { _ in
    (0..<period).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
  }

  /// The bytes of a body that depend only on their position.
  static func pattern(_ range: Range<Int64>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    while bytes.count < range.count {
      let start = Int((range.lowerBound + Int64(bytes.count)) % period)
      bytes += periods[start..<start + min(range.count - bytes.count, Int(period))]
    }
    return bytes
  }
}
