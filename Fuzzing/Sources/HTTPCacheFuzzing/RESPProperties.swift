/// The properties of the decoder of a Redis server's replies for any input (`Sources/HTTPCacheRedis/RESP`, which this
/// module compiles too).
enum RESPProperties {
  /// Small limits, so that short inputs come to them.
  private static let limits = RESPLimits(line: 64, bulk: 256, bytes: 512, values: 48, depth: 4)

  /// The replies that a decoder makes of bytes, and whether it failed.
  struct Transcript: Equatable {
    var replies: [RESPValue] = []
    var isFailed = false
  }

  /// Reads the octets after the first, which is the seed of how they are cut into pieces.
  static func check(_ octets: UnsafeRawBufferPointer) throws(PropertyViolation) {
    guard let first = octets.first else { return }
    let input = Array(octets.dropFirst())
    let whole = read(input) { input.count }
    let single = read(input) { 1 }
    try require(single == whole, "byte by byte \(single), otherwise \(whole)")
    var random = Seeded(seed: UInt64(first))
    let mixed = read(input) { random.oneIn(3) ? 1 : 1 + random.below(40) }
    try require(mixed == whole, "in pieces \(mixed), otherwise \(whole)")

    var model = RESPModel(input, limits)
    let replies = model.replies()
    try require(whole.replies == replies, "the decoder reads \(whole.replies), the second reader \(replies)")
    for reply in replies { try require(bytes(of: reply) <= limits.bytes, "a reply of too many bytes") }
  }

  /// Decodes bytes in pieces.
  ///
  /// - Parameter length: gives the length of the next piece.
  static func read(_ input: [UInt8], _ length: () -> Int) -> Transcript {
    var decoder = RESPDecoder(limits: limits)
    var transcript = Transcript()
    var rest = input[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(length()))
      rest = rest.dropFirst(piece.count)
      do throws(RESPFailure) {
        try piece.withUnsafeBufferPointer { (bytes) throws(RESPFailure) in
          try decoder.decode(UnsafeRawBufferPointer(bytes)) { transcript.replies.append($0) }
        }
      } catch {
        transcript.isFailed = true
        return transcript
      }
    }
    return transcript
  }

  private static func bytes(of reply: RESPValue) -> Int {
    switch reply {
    case .bulk(let bytes): bytes.count
    case .array(let elements): elements.reduce(0) { $0 + bytes(of: $1) }
    case .simple, .error, .integer, .null: 0
    }
  }
}
