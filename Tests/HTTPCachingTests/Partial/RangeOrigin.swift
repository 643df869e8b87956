import HTTPCacheTesting
import HTTPCaching
import Synchronization

/// An origin with one representation of letters, which answers ranges (RFC 9110 §14.2) and can break
/// off.
final class RangeOrigin: Upstream {
  private struct State {
    var content: [UInt8]
    var fields: HTTPFields
    var breaksAfter: Int?
    var ignoresRanges = false
    var answer: (@Sendable (HTTPRequest) -> UpstreamResponse)?
    var requests: [HTTPRequest] = []
    var sent = 0
  }

  private let state: Mutex<State>

  /// - Parameter fields: of every response; `ETag` decides about `If-Range`.
  init(count: Int, _ fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]) {
    state = Mutex(State(content: Self.letters(count), fields: fields))
  }

  static func letters(_ count: Int, from first: UInt8 = 97) -> [UInt8] {
    (0..<count).map { first + UInt8($0 % 26) }
  }

  var requests: [HTTPRequest] { state.withLock { $0.requests } }
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

  func ignoresRanges() { state.withLock { $0.ignoresRanges = true } }

  /// Sets the answer to the next requests; nil returns to normal answers.
  func answers(_ answer: (@Sendable (HTTPRequest) -> UpstreamResponse)?) {
    state.withLock { $0.answer = answer }
  }

  func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
    let state = self.state.withLock { state in
      state.requests.append(request.head)
      return state
    }
    if let answer = state.answer { return answer(request.head) }
    var head = HTTPResponse(status: .ok, headerFields: state.fields)
    if let tag = state.fields[.eTag], request.head.headerFields[.ifNoneMatch]?.contains(tag) == true {
      head.status = .notModified
      return UpstreamResponse(head: head, body: .empty)
    }
    var bytes = state.content[...]
    if !state.ignoresRanges, let range = request.head.headerFields[.range],
      request.head.headerFields[.ifRange].map({ $0 == state.fields[.eTag] }) ?? true,
      let resolved = Self.resolve(range, count: state.content.count)
    {
      bytes = bytes[resolved]
      head.status = .partialContent
      head.headerFields[.contentRange] =
        "bytes \(resolved.lowerBound)-\(resolved.upperBound - 1)/\(state.content.count)"
    }
    let length = Int64(bytes.count)
    head.headerFields[.contentLength] = String(length)
    let end = state.breaksAfter.map { min(bytes.count, $0) }
    self.state.withLock { $0.sent += end ?? bytes.count }
    return UpstreamResponse(
      head: head,
      body: MessageBody(
        BreakingBody(Array(bytes.prefix(end ?? bytes.count)), length: length, breaks: end != nil)))
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

/// Gives its bytes in pieces, and then ends or fails.
final class BreakingBody: BodySource {
  private let pieces: [BodyBytes]
  private let breaks: Bool
  private let position = Mutex(0)
  let length: Int64?
  let trailers: HTTPFields = [:]

  init(_ bytes: [UInt8], length: Int64?, breaks: Bool, step: Int = 1 << 16) {
    pieces = stride(from: 0, to: bytes.count, by: step).map {
      BodyBytes(Array(bytes[$0..<min(bytes.count, $0 + step)]))
    }
    self.length = length
    self.breaks = breaks
  }

  func next() async throws -> BodyBytes? {
    let index = position.withLock { position in
      defer { position += 1 }
      return position
    }
    if index < pieces.count { return pieces[index] }
    if breaks, index == pieces.count { throw UpstreamError(.protocol, "the origin closed early") }
    return nil
  }

  func cancel() { position.withLock { $0 = pieces.count + 1 } }
}
