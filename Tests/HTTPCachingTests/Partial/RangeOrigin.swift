import HTTPCacheTesting
import HTTPCaching

/// An origin with one representation of letters, which answers ranges (RFC 9110 §14.2) and can break
/// off.
final class RangeOrigin: Upstream {
  private struct State {
    var content: [UInt8]
    var fields: HTTPFields
    var breaksAfter: Int?
    var answer: (@Sendable (HTTPRequest) -> ScriptedResponse)?
    var sent = 0

    mutating func response(to request: HTTPRequest) -> ScriptedResponse {
      if let answer { return answer(request) }
      var head = HTTPResponse(status: .ok, headerFields: fields)
      if let tag = fields[.eTag], request.headerFields[.ifNoneMatch]?.contains(tag) == true {
        head.status = .notModified
        return ScriptedResponse(head: head, steps: [], announcedLength: 0)
      }
      var bytes = content[...]
      if let range = request.headerFields[.range],
        request.headerFields[.ifRange].map({ $0 == fields[.eTag] }) ?? true,
        let resolved = RangeOrigin.resolve(range, count: content.count)
      {
        bytes = bytes[resolved]
        head.status = .partialContent
        head.headerFields[.contentRange] =
          "bytes \(resolved.lowerBound)-\(resolved.upperBound - 1)/\(content.count)"
      }
      head.headerFields[.contentLength] = String(bytes.count)
      let part = bytes.prefix(breaksAfter ?? .max)
      sent += part.count
      var steps: [ScriptedResponse.Step] = stride(from: part.startIndex, to: part.endIndex, by: 1 << 16).map {
        .bytes(BodyBytes(part[$0...].prefix(1 << 16)))
      }
      if breaksAfter != nil { steps.append(.fail(UpstreamError(.protocol, "the origin closed early"))) }
      return ScriptedResponse(head: head, steps: steps, announcedLength: Int64(bytes.count))
    }
  }

  private let state: WatchedState<State>
  private let upstream: ScriptedUpstream

  /// - Parameter fields: of every response; `ETag` decides about `If-Range`.
  init(count: Int, _ fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]) {
    let state = WatchedState(State(content: Self.letters(count), fields: fields))
    self.state = state
    upstream = ScriptedUpstream { request in state.withLock { $0.response(to: request.head) } }
  }

  static func letters(_ count: Int, from first: UInt8 = 97) -> [UInt8] {
    (0..<count).map { first + UInt8($0 % 26) }
  }

  var requests: [HTTPRequest] { upstream.requests.map(\.head) }
  /// Bytes of bodies sent so far.
  var sent: Int { state.withLock { $0.sent } }
  var text: String { state.withLock { String(decoding: $0.content, as: UTF8.self) } }

  /// Another representation from now on.
  func change(to content: [UInt8], _ fields: HTTPFields) {
    state.withLock { state in
      state.content = content
      state.fields = fields
    }
  }

  /// Ends the next responses early, after this number of bytes.
  func breaks(after count: Int?) { state.withLock { $0.breaksAfter = count } }

  /// Sets the answer to the next requests; nil returns to normal answers.
  func answers(_ answer: (@Sendable (HTTPRequest) -> ScriptedResponse)?) {
    state.withLock { $0.answer = answer }
  }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    try await upstream.send(request)
  }

  private static func resolve(_ value: String, count: Int) -> Range<Int>? {
    guard value.hasPrefix("bytes="), !value.contains(",") else { return nil }
    let parts = value.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    if parts[0].isEmpty { return Int(parts[1]).map { max(0, count - $0)..<count } }
    guard let first = Int(parts[0]), first < count else { return nil }
    return first..<min(count, (Int(parts[1]) ?? count - 1) + 1)
  }
}
