import HTTPCacheTesting
import HTTPCaching
import Synchronization

/// An origin with one file, which answers ranges (RFC 9110 §14.2) and can break off.
final class FileOrigin: Sendable {
  struct State: Sendable {
    var content: [UInt8]
    var fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]
    /// The next answers end after these numbers of bytes.
    var cuts: [Int] = []
    /// Answers instead of the file, first to last.
    var answers: [ScriptedResponse] = []
    /// Answers instead of the file to some requests.
    var special: (@Sendable (ScriptedUpstream.Received) -> ScriptedResponse?)?
    var ignoresRanges = false
    /// Whether answers to `If-Range` have no `Content-Type` (RFC 9110 §15.3.7).
    var leavesOutType = false
    var piece = 1 << 16
    /// The body waits here before its first byte.
    var gate: Gate?
    var sent = 0
  }

  private let state: Mutex<State>

  init(count: Int) { state = Mutex(State(content: Self.bytes(count))) }

  static func bytes(_ count: Int, seed: UInt8 = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) &+ seed }
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  var content: [UInt8] { state.withLock { $0.content } }
  /// Bytes of bodies sent so far.
  var sent: Int { state.withLock { $0.sent } }

  func makeUpstream() -> ScriptedUpstream { ScriptedUpstream { [self] in answer($0) } }

  private func answer(_ request: ScriptedUpstream.Received) -> ScriptedResponse {
    state.withLock { state in
      if !state.answers.isEmpty { return state.answers.removeFirst() }
      if let answer = state.special?(request) { return answer }
      var head = HTTPResponse(status: .ok, headerFields: state.fields)
      if let tag = state.fields[.eTag], request["If-None-Match"] == tag {
        head.status = .notModified
        return ScriptedResponse(head: head, steps: [])
      }
      if let date = state.fields[.lastModified], request["If-Modified-Since"] == date {
        head.status = .notModified
        return ScriptedResponse(head: head, steps: [])
      }
      var bytes = state.content[...]
      if !state.ignoresRanges, let range = request["Range"], let resolved = state.resolve(range),
        request["If-Range"].map({ $0 == state.fields[.eTag] ?? state.fields[.lastModified] }) ?? true
      {
        if state.leavesOutType, request["If-Range"] != nil { head.headerFields[.contentType] = nil }
        bytes = bytes[resolved]
        head.status = .partialContent
        head.headerFields[.contentRange] =
          "bytes \(resolved.lowerBound)-\(resolved.upperBound - 1)/\(state.content.count)"
      }
      head.headerFields[.contentLength] = String(bytes.count)
      let cut = state.cuts.isEmpty ? nil : state.cuts.removeFirst()
      let part = Array(bytes.prefix(cut ?? bytes.count))
      state.sent += part.count
      var steps: [ScriptedResponse.Step] = stride(from: 0, to: part.count, by: state.piece).map {
        .bytes(BodyBytes(part[$0..<min(part.count, $0 + state.piece)]))
      }
      if let gate = state.gate { steps.insert(.wait(gate), at: 0) }
      if cut != nil { steps.append(.fail(UpstreamError(.protocol, "the origin closed early"))) }
      return ScriptedResponse(head: head, steps: steps, announcedLength: Int64(bytes.count))
    }
  }
}

extension FileOrigin.State {
  fileprivate func resolve(_ value: String) -> Range<Int>? {
    guard value.hasPrefix("bytes="), !value.contains(",") else { return nil }
    let parts = value.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = Int(parts[0]), first < content.count else { return nil }
    return first..<min(content.count, (Int(parts[1]) ?? content.count - 1) + 1)
  }
}
