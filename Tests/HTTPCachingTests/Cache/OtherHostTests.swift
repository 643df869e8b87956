import HTTPCacheTesting
import HTTPCaching
import Testing

/// A `Host` field may reach another site than the URL: its response is not that of the URL (RFC 9110 §7.2).
@Suite("A request whose Host is not that of its URL", .timeLimit(.minutes(10)))
struct OtherHostTests {
  private let test = TestCache()

  init() {
    test.origin.answers { request, _ in
      let host = HTTPField.Name("Host").flatMap { request.headerFields[$0] } ?? request.authority ?? ""
      return (200, [.cacheControl: "max-age=60"], "site of \(host)")
    }
  }

  private func host(_ value: String) throws -> HTTPFields {
    var fields: HTTPFields = [:]
    fields[try #require(HTTPField.Name("Host"))] = value
    return fields
  }

  @Test(
    "goes to the origin, is not answered from the store, and its response is not stored",
    arguments: ["evil.example", "example.com:8443", "example.com.", "", "not a host", "user@evil.example"])
  func bypasses(_ name: String) async throws {
    let other = try await test.get("/a", try host(name))
    #expect(other.text == "site of \(name)")
    #expect(
      other.outcome
        == .forwarded(.miss(.policy(.bypass)), status: 200, storage: .doNotStore(.policy), collapsed: false))
    #expect(try await test.get("/a").text == "site of example.com")
    #expect(try await test.get("/a", try host(name)).text == "site of \(name)")
    #expect(test.cache.peek(test.request("/a", try host(name))) == nil)
    #expect(try await test.get("/a").text == "site of example.com")
    #expect(test.origin.requests.count == 3)
  }

  @Test("is not answered by cacheOnly, and no origin is asked")
  func cacheOnly() async throws {
    _ = try await test.get("/a")
    #expect(try await test.get("/a", try host("evil.example"), policy: .cacheOnly).status == 504)
    #expect(test.origin.requests.count == 1)
  }

  @Test("is not adopted, nor found among what is stored")
  func adoption() async throws {
    _ = try await test.get("/a")
    let request = test.request("/a", try host("evil.example"))
    let refusal = await test.cache.adopt(
      AdoptedResponse(
        HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]), body: BodyBytes(),
        isDecoded: false, userInfo: [], isMemoryOnly: false),
      to: request, asking: .concurrent(test.clock, executor: nil))
    #expect(refusal == .policy)
    #expect(test.cache.stored(for: request) == nil)
    #expect(test.cache.stored(for: test.request("/a")) != nil)
  }

  @Test(
    "the URL's own authority, in any case or with the default port, changes nothing",
    arguments: ["example.com", "EXAMPLE.com", "example.com:443"])
  func own(_ name: String) async throws {
    _ = try await test.get("/a", try host(name))
    #expect(try await test.get("/a", try host(name)).text == "site of \(name)")
    #expect(test.origin.requests.count == 1)
  }
}
