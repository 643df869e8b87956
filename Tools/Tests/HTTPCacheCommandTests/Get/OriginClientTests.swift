import HTTPCaching
import HTTPTypes
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("The client of get", .timeLimit(.minutes(10))) struct OriginClientTests {
  @Test("an origin that sends no SETTINGS does not keep a client whose request is over (RFC 9113 §3.4)")
  func silentOrigin() async throws {
    let origin = try await RawHTTP2Origin(settings: nil) { _ in [] }
    var options = OriginClient.Options()
    options.isInsecure = true
    try await OriginClient.withUpstream(options) { upstream in
      let authority = String(origin.base.dropFirst("https://".count))
      let request = Task {
        try await upstream.send(
          UpstreamRequest(head: HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/")))
      }
      for await _ in origin.connections { break }
      request.cancel()
      await #expect(throws: UpstreamError.self) { try await request.value }
    }
    try await origin.close()
  }

  @Test("each of many requests at once to a host has its own connection, so that none gets one that breaks")
  func ownConnections() async throws {
    let count = 40
    let origin = try await GatheringOrigin(count)
    let head = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/")
    try await OriginClient.withUpstream { upstream in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<count {
          group.addTask {
            let response = try await upstream.send(UpstreamRequest(head: head))
            _ = try await response.body.collect()
            return response.head.status.code
          }
        }
        for try await code in group { #expect(code == 200) }
      }
    }
    try await origin.close()
  }
}
