import ServerTesting

/// A file that an origin sends, with support for ranges.
struct ServedFile: Sendable {
  var content: [UInt8]
  var tag = "\"v1\""
  /// More fields, each with its end of line.
  var fields = ""
  /// The first octet that is not sent; the connection then ends.
  var cut: Int?
  /// Whether the connection is held instead.
  var isHeld = false
  /// For `Answer.awaitedFile`, where the body is cut.
  var awaitedFile: String?
  var hasRanges = true

  func answer(_ request: ScriptedOrigin.Request) -> ScriptedOrigin.Answer {
    var start = 0
    if hasRanges, let asked = request.start, request.fields["if-range"].map({ $0 == tag }) ?? true {
      start = asked
    }
    guard start < content.count else {
      return .init(head: "HTTP/1.1 416 No\r\nContent-Range: bytes */\(content.count)\r\nContent-Length: 0")
    }
    let range = start > 0 ? "\r\nContent-Range: bytes \(start)-\(content.count - 1)/\(content.count)" : ""
    let head =
      "HTTP/1.1 \(start > 0 ? "206 Part" : "200 OK")\r\nContent-Length: \(content.count - start)\(range)"
      + (tag.isEmpty ? "" : "\r\nETag: \(tag)") + (fields.isEmpty ? "" : "\r\n\(fields)")
    let end = max(start, min(cut ?? content.count, content.count))
    let isCut = end < content.count
    return .init(
      head: head, body: Array(content[start..<end]), isHeld: isHeld && isCut,
      awaitedFile: isCut ? awaitedFile : nil)
  }

  /// Bytes that differ from place to place.
  static func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
  }
}

extension ScriptedOrigin {
  /// An origin that sends one file for the first request, and another one for the others.
  convenience init(_ first: ServedFile, _ later: ServedFile) async throws {
    try await self.init { ($0.number == 0 ? first : later).answer($0) }
  }
}
