import HTTPCacheArchives
import HTTPCacheTestTraits
import HTTPCaching
import HTTPTypes
import Testing

@Suite("The trait for replaying", .replaying("Recordings/names.har"), .timeLimit(.minutes(10)))
struct ReplayTraitTests {
  private func names() async throws -> [UInt8] {
    let origin = try #require(ReplayUpstream.current)
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/names")
    return try await origin.send(UpstreamRequest(head: request)).body.collect().array
  }

  @Test("on a suite, all tests have the recording")
  func suite() async throws { #expect(try await names() == Array("[\"Ada\"]".utf8)) }

  @Test(
    "on a test, its own recording counts, with every argument", .replaying("Recordings/others.har"),
    arguments: [1, 2])
  func test(_ number: Int) async throws { #expect(try await names() == Array("[\"Grace\"]".utf8)) }
}
