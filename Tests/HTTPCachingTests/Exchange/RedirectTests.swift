import HTTPCaching
import Testing

@Suite("Redirects through the cache (RFC 9110 §15.4)", .timeLimit(.minutes(10)))
struct RedirectTests {
  private let test = TestCache()

  @Test("301 is followed, stored and reused like anything else")
  func permanent() async throws {
    test.origin.answers { request, _ in
      request.path == "/old"
        ? (301, [.location: "/new", .cacheControl: "max-age=60"], "moved")
        : (200, [.cacheControl: "max-age=60"], "here")
    }
    for _ in 0..<2 {
      let answer = try await test.get("/old")
      #expect(answer.text == "here")
      #expect(answer.redirects.count == 1)
    }
    #expect(test.origin.requests.map(\.path) == ["/old", "/new"])
  }

  @Test("Authorization and cookies stay behind when the origin changes")
  func crossOrigin() async throws {
    test.origin.answers { request, _ in
      request.authority == "example.com"
        ? (302, [.location: "https://other.example/x"], "") : (200, [:], "ok")
    }
    _ = try await test.get("/", [.authorization: "secret", .cookie: "a=b", .userAgent: "test"])
    let last = try #require(test.origin.requests.last)
    #expect(last.authority == "other.example")
    #expect(last.headerFields[.authorization] == nil)
    #expect(last.headerFields[.cookie] == nil)
    #expect(last.headerFields[.userAgent] == "test")
  }

  @Test("on the same origin they stay")
  func sameOrigin() async throws {
    test.origin.answers { request, _ in
      request.path == "/" ? (307, [.location: "/b"], "") : (200, [:], "ok")
    }
    _ = try await test.get("/", [.authorization: "secret"])
    #expect(test.origin.requests.last?.headerFields[.authorization] == "secret")
  }

  @Test("the caller may change the request that follows, also after a stored redirect")
  func willFollow() async throws {
    test.origin.answers { request, _ in
      request.path == "/old"
        ? (301, [.location: "https://other.example/new", .cacheControl: "max-age=60"], "") : (200, [:], "ok")
    }
    var options = RequestOptions()
    options.willFollow = { redirect, next in
      next.headerFields[.authorization] = redirect.headerFields[.location]
    }
    for _ in 0..<2 {
      _ = try await test.get("/old", [.authorization: "secret"], options: options)
      #expect(test.origin.requests.last?.headerFields[.authorization] == "https://other.example/new")
    }
    #expect(test.origin.requests.count == 3)
  }

  @Test("a loop ends after 20 redirects with an error")
  func loop() async throws {
    test.origin.always(302, [.location: "/again"], "")
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
    #expect(test.origin.requests.count == 21)
  }

  @Test("a limit of 0 hands the redirect to the caller")
  func notFollowed() async throws {
    test.origin.always(302, [.location: "/again"], "")
    #expect(try await test.get("/", options: RequestOptions(redirectLimit: 0)).status == 302)
  }

  @Test("303 and POST with 302 become GET; no Location is no redirect")
  func methods() async throws {
    test.origin.answers { request, _ in
      request.path == "/form" ? (303, [.location: "/done"], "") : (200, [:], "done")
    }
    #expect(try await test.get("/form", method: .post).text == "done")
    #expect(test.origin.requests.last?.method == .get)
    test.origin.always(302, [:], "nowhere")
    #expect(try await test.get("/lost").status == 302)
  }

  @Test("a redirect whose own body breaks off is followed all the same")
  func brokenBody() async throws {
    test.origin.streams(
      [.location: "/new", .cacheControl: "max-age=9"], status: { $0.path == "/new" ? 200 : 301 }
    ) { request in
      request.path == "/new"
        ? TestBody(piece: [65], count: 1) : TestBody(piece: [1], count: 9, announced: 9, failsAt: 2)
    }
    #expect(try await test.get("/old").text == "A")
  }
}
