/// The properties of the codec of `httpcache serve` for any input (`Tools/Sources/HTTPCacheProxy/Codec`, which this
/// module compiles too).
enum HTTP1Properties {
  /// Reads the octets of one direction of a connection.
  ///
  /// The first octet tells the direction: `q` for requests, `h` for responses to HEAD, else responses to
  /// GET. The second is the seed of how the rest is cut into pieces.
  static func check(_ octets: UnsafeRawBufferPointer) throws(PropertyViolation) {
    guard octets.count >= 2 else { return }
    let direction: HTTP1Transcript.Direction =
      switch octets[0] {
      case UInt8(ascii: "q"): .requests
      case UInt8(ascii: "h"): .responsesToHead
      default: .responses
      }
    try check(
      UnsafeRawBufferPointer(rebasing: octets[2...]), direction, seed: UInt64(octets[1]))
  }

  static func check(
    _ input: UnsafeRawBufferPointer, _ direction: HTTP1Transcript.Direction, seed: UInt64
  ) throws(PropertyViolation) {
    // Pieces of 512 bytes are the largest of a whole that is told to be bounded.
    let coarse = try HTTP1Transcript(input, direction) { 512 }
    let single = try HTTP1Transcript(input, direction) { 1 }
    try require(single == coarse, "byte by byte \(single), otherwise \(coarse)")
    var random = Seeded(seed: seed)
    let mixed = try HTTP1Transcript(input, direction) { random.oneIn(3) ? 1 : 1 + random.below(300) }
    try require(mixed == coarse, "in pieces \(mixed), otherwise \(coarse)")
    try checkFraming(coarse)

    // RFC 9112 §6: each decoded message is a message for the second reader too, with the same end.
    let model = HTTP1Model(Array(input), direction).messages
    let accepted = coarse.messages.filter(\.isComplete)
    try require(
      accepted == model, "the codec reads \(accepted), RFC 9112 says \(model); ending: \(coarse.ending)")
  }

  /// RFC 9112 §6.1: no message has two lengths.
  private static func checkFraming(_ transcript: HTTP1Transcript) throws(PropertyViolation) {
    for message in transcript.messages {
      let isLong = message.fields.contains { $0.starts(with: "content-length:".utf8) }
      let isCoded = message.fields.contains { $0.starts(with: "transfer-encoding:".utf8) }
      try require(!(isLong && isCoded), "both a length and a transfer coding in \(message)")
      if case .length(let length) = message.framing {
        try require(
          message.isComplete ? message.content.count == length : message.content.count < length,
          "\(message.content.count) bytes of a message of \(length)")
      }
    }
  }
}
