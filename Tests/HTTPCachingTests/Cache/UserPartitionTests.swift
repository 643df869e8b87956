import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A user's own partition of a shared cache", .timeLimit(.minutes(10)))
struct UserPartitionTests {
  private func options(_ partition: String, isOneUser: Bool = true) -> RequestOptions {
    var options = RequestOptions(partition: partition)
    options.isOneUser = isOneUser
    return options
  }

  private func test(_ fields: HTTPFields) -> TestCache<TestOrigin> {
    let test = TestCache(rules: CacheRules(mode: .shared))
    test.origin.answers { request, number in (200, fields, "\(number)") }
    return test
  }

  @Test(
    "stores what is private, and what answers credentials",
    arguments: ["private, max-age=60", "max-age=60", "s-maxage=0, max-age=60"])
  func stores(_ value: String) async throws {
    let test = test([.cacheControl: value])
    for _ in 0..<3 {
      let answer = try await test.get("/", [.authorization: "Basic YTpi"], options: options("anna"))
      #expect(answer.text == "1")
    }
    #expect(try await test.cache.wipe(partition: "anna") == 1)
  }

  @Test("the note of a refusal follows the rules of the user's partition, not those of a shared cache")
  func refusalNote() async throws {
    let test = test([.cacheControl: "private, no-store"])
    try await test.get("/", options: options("anna"))
    let notes = try test.cache.refusals(of: test.request("/"), options: options("anna"))
    let steps = try #require(notes.first).explanation.steps.map(\.description)
    #expect(!steps.contains { $0.contains("shared") })
  }

  @Test("no other user, and no request without a partition, gets it")
  func apart() async throws {
    let test = test([.cacheControl: "private, max-age=60"])
    #expect(try await test.get("/", options: options("anna")).text == "1")
    #expect(try await test.get("/", options: options("bert")).text == "2")
    #expect(try await test.get("/").text == "3")
    #expect(try await test.get("/").text == "4")
    #expect(try await test.get("/", options: options("")).text == "5")
    #expect(try await test.get("/", options: options("anna")).text == "1")
  }

  @Test("a partition that is not said to be one user's stores nothing private")
  func site() async throws {
    let test = test([.cacheControl: "private, max-age=60"])
    for number in 1...2 {
      #expect(
        try await test.get("/", options: options("https://site", isOneUser: false)).text == "\(number)")
    }
  }
}
