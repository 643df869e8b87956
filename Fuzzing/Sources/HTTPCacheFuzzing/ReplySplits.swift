/// Generated replies of a Redis server, each read whole, byte by byte, and cut in two at every byte.
public enum ReplySplits {
  /// Checks one generated reply. Every fourth one has an octet that was changed, and may be no reply.
  ///
  /// - Parameter seed: chooses the reply.
  /// - Returns: the number of bytes that were read, in all ways together.
  public static func check(seed: UInt64) throws(PropertyViolation) -> Int {
    var random = Seeded(seed: seed)
    let reply = value(&random, depth: 0)
    var input: [UInt8] = []
    append(reply, to: &input)
    let isChanged = random.oneIn(4)
    if isChanged { input[random.below(input.count)] = random.pick(Array("\r\n*$:+-09a".utf8)) }
    let whole = RESPProperties.read(input) { input.count }
    if !isChanged { try require(whole.replies == [reply], "\(reply) is read as \(whole)") }
    let single = RESPProperties.read(input) { 1 }
    try require(single == whole, "byte by byte \(single), otherwise \(whole)")
    for place in 1..<input.count {
      var next = place
      let cut = RESPProperties.read(input) {
        defer { next = input.count }
        return next
      }
      try require(cut == whole, "cut at \(place) \(cut), otherwise \(whole)")
    }
    return input.count * (input.count + 1)
  }

  /// A value within the limits of `RESPProperties`.
  private static func value(_ random: inout Seeded, depth: Int) -> RESPValue {
    switch random.below(depth < 3 ? 8 : 6) {
    case 0: .simple(text(&random))
    case 1: .error(String(decoding: text(&random), as: UTF8.self))
    case 2: .integer(Int64(truncatingIfNeeded: random.next() >> UInt64(random.below(64))))
    case 3: .null
    case 4, 5: .bulk((0..<random.below(16)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    default: .array((0..<random.below(4)).map { _ in value(&random, depth: depth + 1) })
    }
  }

  private static func text(_ random: inout Seeded) -> [UInt8] {
    (0..<random.below(12)).map { _ in UInt8(0x20 + random.below(0x5F)) }
  }

  private static func append(_ reply: RESPValue, to bytes: inout [UInt8]) {
    switch reply {
    case .simple(let text): bytes += Array("+".utf8) + text
    case .error(let text): bytes += Array("-\(text)".utf8)
    case .integer(let number): bytes += Array(":\(number)".utf8)
    case .null: bytes += Array("$-1".utf8)
    case .bulk(let content): bytes += Array("$\(content.count)\r\n".utf8) + content
    case .array(let elements):
      bytes += Array("*\(elements.count)\r\n".utf8)
      for element in elements { append(element, to: &bytes) }
      return
    }
    bytes += [0x0D, 0x0A]
  }
}
