import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Peek: a fresh answer from memory without suspending")
struct PeekTests {
  private let kitchen = Kitchen()

  // holds 9111-4-6
  @Test("fresh and in memory: answered, with Age")
  func fresh() async throws {
    kitchen.origin.always(200, [.cacheControl: "max-age=60"], "body")
    try await kitchen.get("/")
    kitchen.clock.advance(by: 7)
    let answer = try #require(kitchen.cache.peek(kitchen.request("/")))
    #expect(answer.head.headerFields[.age] == "7")
    #expect(try await answer.body.collect().array == Array("body".utf8))
  }

  @Test("anything else is left to respond")
  func others() async throws {
    kitchen.origin.always(200, [.cacheControl: "max-age=60"], "body")
    #expect(kitchen.cache.peek(kitchen.request("/")) == nil)
    try await kitchen.get("/")
    #expect(kitchen.cache.peek(kitchen.request("/", method: .post)) == nil)
    #expect(kitchen.cache.peek(kitchen.request("/", [.cacheControl: "no-cache"])) == nil)
    kitchen.clock.advance(by: 60)
    #expect(kitchen.cache.peek(kitchen.request("/")) == nil)
    #expect(kitchen.origin.requests.count == 1)
  }
}
