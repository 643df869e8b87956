import HTTPCacheArchives
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("The bodies of a recording that is made are limited", .timeLimit(.minutes(10)))
struct RecordingLimitTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func recorded(_ lengths: [Int], limit: Int64, cancelling cancelled: Set<Int> = []) async throws -> (
    targets: Set<String>, leftOut: Int
  ) {
    let origin = ScriptedUpstream { request in
      let number = request.head.path.flatMap { Int($0.dropFirst()) } ?? 0
      return ScriptedResponse(body: String(repeating: "a", count: lengths[number]))
    }
    let path = folder.path + "/a.har"
    let upstream = try ReplayUpstream(path: path, mode: .recordAll, origin: origin, recordingLimit: limit)
    for number in lengths.indices {
      let head = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/\(number)")
      let response = try await upstream.send(UpstreamRequest(head: head))
      if cancelled.contains(number) {
        _ = try await response.body.source.next()
        response.body.source.cancel()
      } else {
        #expect(try await response.body.collect().count == lengths[number])
      }
    }
    try await upstream.finish()
    let targets = try RecordingSeed(path: path).responses(from: 0, limit: 100).map(\.target)
    return (Set(targets), upstream.leftOut)
  }

  @Test("a body that is longer than what is left is passed on and not recorded; a later one may fit")
  func limit() async throws {
    let (targets, leftOut) = try await recorded([60, 60, 40, 1], limit: 100)
    #expect(targets == ["https://example.com/0", "https://example.com/2"] && leftOut == 2)
  }

  @Test("a body that breaks off takes nothing of the limit")
  func cancelled() async throws {
    let (targets, leftOut) = try await recorded([90, 90], limit: 100, cancelling: [0])
    #expect(targets == ["https://example.com/1"] && leftOut == 0)
  }
}
