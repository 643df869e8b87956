import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

@Suite(.timeLimit(.minutes(10))) struct CachedURLSessionTests {
  private static let fresh = [("Cache-Control", "max-age=60")]

  @Test func aFreshResponseIsUsedAgain() async throws {
    let test = try TestSession { .text("number \($0.number)", Self.fresh) }
    let first = try await test.get("/a")
    let second = try await test.get("/a")
    #expect(first.text == "number 1" && !first.isHit)
    #expect(second.text == "number 1" && second.isHit)
    #expect(second.response.url == test.origin.url("/a"))
    #expect(test.origin.requests.count == 1)
  }

  @Test func a304IsSeenAsTheWhole() async throws {
    let test = try TestSession { .tagged("\"a\"", $0, .text("body", Self.fresh)) }
    _ = try await test.get("/")
    test.clock.advance(by: 100)
    let second = try await test.get("/")
    #expect(second.status == 200 && second.text == "body" && second.isValidated)
    #expect(test.origin.requests.last?["If-None-Match"] == "\"a\"")
  }

  @Test func theCallersOwnConditionGetsThe304() async throws {
    let test = try TestSession { .tagged("\"a\"", $0, .text("body", Self.fresh)) }
    _ = try await test.get("/")
    let second = try await test.get("/", ["If-None-Match": "\"a\""])
    #expect(second.status == 304 && second.text.isEmpty)
    #expect(test.origin.requests.count == 1)
  }

  @Test(
    "a body that breaks off is a lost connection, as on Apple's systems",
    arguments: [
      OriginAnswer.Framing.length(10), .chunked,
    ])
  func cutBody(_ framing: OriginAnswer.Framing) async throws {
    let test = try TestSession { _ in OriginAnswer(steps: [.bytes([1, 2, 3]), .cut], framing: framing) }
    let error = await #expect(throws: URLError.self) { try await test.session.data(for: test.request("/")) }
    #expect(error?.code == .networkConnectionLost)
    #expect(error?.failingURL == test.origin.url("/"))
    let other = URLSession(configuration: .ephemeral.caching(with: test.cache))
    defer { other.invalidateAndCancel() }
    let passed = await #expect(throws: URLError.self) { try await other.data(for: test.request("/")) }
    #expect(passed?.code == .networkConnectionLost)
  }

  @Test(arguments: [
    (URLRequest.CachePolicy.useProtocolCachePolicy, 1), (.reloadIgnoringLocalCacheData, 2),
    (.reloadIgnoringLocalAndRemoteCacheData, 2), (.returnCacheDataElseLoad, 1),
    (.returnCacheDataDontLoad, 1), (.reloadRevalidatingCacheData, 2),
  ])
  func policiesOfRequestsAndOfTheConfiguration(
    _ policy: URLRequest.CachePolicy, _ asked: Int
  ) async throws {
    let test = try TestSession { .tagged("\"a\"", $0, .text("body", Self.fresh)) }
    _ = try await test.get("/")
    var request = test.request("/")
    request.cachePolicy = policy
    let (data, _) = try await test.session.data(for: request)
    #expect(String(decoding: data, as: UTF8.self) == "body")
    #expect(test.origin.requests.count == asked)

    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = policy
    let other = CachedURLSession(cache: test.cache, configuration: configuration)
    _ = try await other.data(from: test.origin.url("/"))
    #expect(test.origin.requests.count == asked * 2 - 1)
    if policy == .reloadIgnoringLocalAndRemoteCacheData {
      #expect(test.origin.requests.last?["Cache-Control"] == "no-cache")
    }
  }

  @Test func returnCacheDataDontLoadNeverAsksTheOrigin() async throws {
    let test = try TestSession { _ in .text("never") }
    var request = test.request("/")
    request.cachePolicy = .returnCacheDataDontLoad
    let code = await urlErrorCode { [request] in _ = try await test.session.data(for: request) }
    #expect(code == .resourceUnavailable)
    #expect(test.origin.requests.isEmpty)
  }

  @Test func whereTheOriginCannotBeReached() async throws {
    let test = try TestSession { _ in .text("known", [("Cache-Control", "max-age=0")]) }
    _ = try await test.get("/")
    test.origin.stop()
    test.clock.advance(by: 10)
    // Use a new connection: the system may not have noticed the end of the old one.
    let other = CachedURLSession(cache: test.cache, configuration: .ephemeral)
    let (data, _) = try await other.data(for: test.request("/"))
    #expect(String(decoding: data, as: UTF8.self) == "known")
    let code = await urlErrorCode { _ = try await other.data(for: test.request("/other")) }
    #expect(code == .cannotConnectToHost)
  }

  @Test func fieldsOfTheConfigurationAreInTheRequestThatTheCacheSees() async throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-Kind": "one"]
    let test = try TestSession(configuration: configuration) {
      .text($0["X-Kind"] ?? "none", Self.fresh + [("Vary", "X-Kind")])
    }
    #expect(try await test.get("/").text == "one")
    #expect(try await test.get("/", ["X-Kind": "two"]).text == "two")
    #expect(try await test.get("/").text == "one")
    #expect(test.origin.requests.count == 2)
  }

  @Test func cookiesAreSentAndSeenByTheCache() async throws {
    let test = try TestSession { request in
      request.path == "/login"
        ? .text("", [("Set-Cookie", "who=\(request["X-Who"] ?? ""); Path=/")])
        : .text(request["Cookie"] ?? "nobody", Self.fresh + [("Vary", "Cookie")])
    }
    #expect(try await test.get("/page").text == "nobody")
    _ = try await test.get("/login", ["X-Who": "ann"])
    #expect(try await test.get("/page").text == "who=ann")
    #expect(try await test.get("/page").isHit)
  }

  @Test func anUploadInvalidates() async throws {
    let test = try TestSession { request in
      request.method == "GET" ? .text("number \(request.number)", Self.fresh) : .text(request.bodyText)
    }
    _ = try await test.get("/")
    let (data, _) = try await test.session.upload(
      for: test.request("/", method: "PUT"), from: Data("new".utf8))
    #expect(String(decoding: data, as: UTF8.self) == "new")
    #expect(try await test.get("/").text == "number 3")
  }

  @Test func aFileIsUploaded() async throws {
    let folder = try ScratchFolder()
    let file = folder.url("content")
    let content = Data(OriginAnswer.pattern(0..<2_000_000))
    try content.write(to: file)
    let test = try TestSession { .text("\($0.body.count)") }
    let (data, _) = try await test.session.upload(
      for: test.request("/", method: "POST"), fromFile: file)
    #expect(String(decoding: data, as: UTF8.self) == "2000000")
    #expect(test.origin.requests.first.map { Data($0.body) } == content)
  }

  @Test func aBodyStreamIsUploaded() async throws {
    let test = try TestSession { .text($0.bodyText) }
    var request = test.request("/", method: "POST")
    request.httpBodyStream = InputStream(data: Data("streamed".utf8))
    let (data, _) = try await test.session.data(for: request)
    #expect(String(decoding: data, as: UTF8.self) == "streamed")
  }

  /// RFC 9110 §9.3.1: content of a GET has no defined meaning, so no key includes it. Foundation sends no
  /// such request; a stored response must not hide that.
  @Test func aGetWithContentIsNotAnsweredFromTheStore() async throws {
    let test = try TestSession { _ in .text("stored", [("Cache-Control", "max-age=60")]) }
    var request = test.request("/")
    _ = try await test.session.data(for: request)
    let withContent: [(inout URLRequest) -> Void] = [
      { $0.httpBody = Data("a".utf8) }, { $0.httpBodyStream = InputStream(data: Data("a".utf8)) },
    ]
    for add in withContent {
      var other = request
      add(&other)
      await #expect(throws: URLError.self) { try await test.session.data(for: other) }
    }
    request.httpBody = Data()
    let (data, response) = try await test.session.data(for: request)
    #expect(String(decoding: data, as: UTF8.self) == "stored")
    #expect(response.cacheOutcome?.fetchType == .localCache)
  }

  @Test func whatIsNotHTTPIsPassedOn() async throws {
    let test = try TestSession { _ in .status(404) }
    let url = try #require(URL(string: "data:text/plain,hello"))
    let (data, response) = try await test.session.data(from: url)
    #expect(String(decoding: data, as: UTF8.self) == "hello")
    #expect(!(response is HTTPURLResponse))
    #expect(response.cacheOutcome == nil)
  }

  @Test(arguments: ["http:///path", "relative", "http://"])
  func requestsThatNameNoHost(_ text: String) async throws {
    let test = try TestSession { _ in .status(404) }
    let url = try #require(URL(string: text))
    #expect(await urlErrorCode { _ = try await test.session.data(from: url) } == .badURL)
  }

  @Test func anInvalidatedSessionTakesNothing() async throws {
    let test = try TestSession { _ in
      OriginAnswer(steps: [.bytes([1]), .hold(Latch())], framing: .length(2))
    }
    let loading = Task { try await test.session.data(for: test.request("/")) }
    await test.origin.arrived(1)
    test.session.invalidateAndCancel()
    #expect(await urlErrorCode { _ = try await loading.value } == .cancelled)
    #expect(await urlErrorCode { _ = try await test.get("/") } == .cancelled)
    await test.origin.abandoned(1)
  }

  @Test func whoeverLeavesDoesNotStopTheOthers() async throws {
    let latch = Latch()
    let test = try TestSession { _ in
      OriginAnswer(
        fields: Self.fresh, steps: [.bytes([65]), .hold(latch), .bytes([66])], framing: .length(2))
    }
    let (leader, _) = try await test.session.bytes(for: test.request("/"))
    let (follower, _) = try await test.session.bytes(for: test.request("/"))
    let leaving = Task { for try await _ in leader {} }
    leaving.cancel()
    _ = await leaving.result
    latch.open()
    var text: [UInt8] = []
    for try await byte in follower { text.append(byte) }
    #expect(text == [65, 66])
    #expect(test.origin.requests.count == 1)
  }

  @Test func aCancelledTaskStopsItsTransfer() async throws {
    let test = try TestSession { _ in
      OriginAnswer(fields: Self.fresh, steps: [.bytes([65]), .hold(Latch())], framing: .length(1 << 20))
    }
    let loading = Task { try await test.session.data(for: test.request("/")) }
    await test.origin.arrived(1)
    loading.cancel()
    #expect(await urlErrorCode { _ = try await loading.value } == .cancelled)
    await test.origin.abandoned(1)
  }
}
