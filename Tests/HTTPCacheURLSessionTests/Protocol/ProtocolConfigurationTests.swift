import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@testable import HTTPCacheURLSession

/// The settings of configurations and requests, and the cache that a session finds.
@Suite(.timeLimit(.minutes(10))) struct ProtocolConfigurationTests {
  private static let stored = ScriptedResponse(
    headers: ["Cache-Control": "max-age=60", "ETag": "\"a\""], body: "one")

  /// The effect of each policy with a fresh response, a stale response, and none stored: whether the origin
  /// is asked, and whether there is an answer.
  private static let policies: [(URLRequest.CachePolicy, fresh: Bool, stale: Bool, answers: Bool)] = [
    (.useProtocolCachePolicy, false, true, true),
    (.reloadIgnoringLocalCacheData, true, true, true),
    (.reloadIgnoringLocalAndRemoteCacheData, true, true, true),
    (.returnCacheDataElseLoad, false, false, true),
    (.returnCacheDataDontLoad, false, false, false),
    (.reloadRevalidatingCacheData, true, true, true),
  ]

  @Test(arguments: policies)
  func policyOfARequest(
    policy: URLRequest.CachePolicy, fresh: Bool, stale: Bool, answers: Bool
  ) async throws {
    try await check(policy, fresh: fresh, stale: stale, answers: answers) {
      ($0.session(), $1)
    }
  }

  @Test(arguments: policies)
  func policyOfAConfiguration(
    policy: URLRequest.CachePolicy, fresh: Bool, stale: Bool, answers: Bool
  ) async throws {
    try await check(policy, fresh: fresh, stale: stale, answers: answers) { test, policy in
      let base = URLSessionConfiguration.ephemeral
      base.requestCachePolicy = policy
      return (URLSession(configuration: test.configuration(base)), .useProtocolCachePolicy)
    }
  }

  #if canImport(FoundationNetworking)
    @Test(arguments: policies)
    func policySetAfterwards(
      policy: URLRequest.CachePolicy, fresh: Bool, stale: Bool, answers: Bool
    ) async throws {
      try await check(policy, fresh: fresh, stale: stale, answers: answers) { test, policy in
        let configuration = test.configuration()
        configuration.requestCachePolicy = policy
        return (URLSession(configuration: configuration), .useProtocolCachePolicy)
      }
    }
  #endif

  private func check(
    _ policy: URLRequest.CachePolicy, fresh: Bool, stale: Bool, answers: Bool,
    _ make: (TestCache, URLRequest.CachePolicy) -> (URLSession, URLRequest.CachePolicy)
  ) async throws {
    let test = TestCache(ScriptedUpstream { _ in Self.stored })
    let filling = test.session()
    _ = try await filling.get("/")
    filling.finishTasksAndInvalidate()
    let (session, requests) = make(test, policy)
    defer { session.finishTasksAndInvalidate() }
    #expect(try await session.get(TestCache.request("/", requests)).text == "one")
    #expect(test.origin.requestCount == (fresh ? 2 : 1))
    test.clock.advance(by: 3600)
    #expect(try await session.get(TestCache.request("/", requests)).text == "one")
    #expect(test.origin.requestCount == (fresh ? 3 : stale ? 2 : 1))
    if answers {
      #expect(try await session.get(TestCache.request("/new", requests)).text == "one")
    } else {
      let error = await #expect(throws: URLError.self) {
        try await session.get(TestCache.request("/new", requests))
      }
      #expect(error?.code == .resourceUnavailable)
    }
  }

  @Test func configurationStaysAsItWasOtherwise() throws {
    let base = URLSessionConfiguration.default
    base.timeoutIntervalForRequest = 7
    base.httpAdditionalHeaders = ["X-A": "b"]
    let test = TestCache([])
    let configuration = test.configuration(base)
    let request = TestCache.request("/")
    let stored = CachedURLResponse(
      response: URLResponse(
        url: TestCache.url("/"), mimeType: nil, expectedContentLength: 1, textEncodingName: nil),
      data: Data([1]))
    configuration.urlCache?.storeCachedResponse(stored, for: request)
    #expect(configuration.urlCache?.cachedResponse(for: request) == nil)
    #expect(configuration.timeoutIntervalForRequest == 7)
    #expect(configuration.httpAdditionalHeaders?["X-A"] as? String == "b")
    #expect(base.urlCache != nil)
    #expect(configuration.protocolClasses?.count == (base.protocolClasses?.count ?? 0) + 1)
    // One cache, not two on top of each other.
    let twice = test.configuration(configuration)
    #expect(twice.protocolClasses?.count == configuration.protocolClasses?.count)
  }

  @Test func eachConfigurationFindsItsCache() async throws {
    let tests = (0..<9).map { number in
      TestCache(
        ScriptedUpstream { _ in
          ScriptedResponse(headers: ["Cache-Control": "max-age=60"], body: "\(number)")
        })
    }
    let sessions = tests.map { $0.session() }
    for _ in 0..<2 {
      for (number, session) in sessions.enumerated() {
        #expect(try await session.get("/").text == "\(number)")
      }
    }
    for test in tests { #expect(test.origin.requestCount == 1) }
    for session in sessions { session.finishTasksAndInvalidate() }
  }

  @Test func classesHaveTheirNumbers() {
    for number in [0, 1, 2, 3, 4, 7, 8, 1000, 65_537] {
      #expect(CachingURLProtocolInSlot<SlotZero>.ofNumber(number).slot == number)
    }
    #expect(CachingURLProtocol.slot == nil)
    #expect(!CachingURLProtocol.canInit(with: TestCache.request("/")))
  }

  @Test func requestsSayNothingOfTheCache() async throws {
    let test = TestCache([ScriptedResponse(body: "one")])
    let base = URLSessionConfiguration.ephemeral
    base.httpAdditionalHeaders = ["X-Configured": "yes", "Accept-Language": "de"]
    let session = URLSession(configuration: test.configuration(base))
    defer { session.finishTasksAndInvalidate() }
    _ = try await session.get(
      TestCache.request("/a?b", .useProtocolCachePolicy, ["Accept-Language": "en"]))
    let received = try #require(test.origin.requests.first)
    #expect(received.head.path == "/a?b")
    #expect(received["X-Configured"] == "yes")
    #expect(received["Accept-Language"] == "en")
    #expect(received.head.headerFields.count == 2)
  }

  @Test func fieldsOfTheConfigurationSelectVariants() async throws {
    let test = TestCache(
      ScriptedUpstream { request in
        ScriptedResponse(
          headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
          body: request["Accept-Language"] ?? "none")
      })
    for _ in 0..<2 {
      for language in ["de", "en"] {
        let base = URLSessionConfiguration.ephemeral
        base.httpAdditionalHeaders = ["Accept-Language": language]
        let session = URLSession(configuration: test.configuration(base))
        #expect(try await session.get("/").text == language)
        session.finishTasksAndInvalidate()
      }
    }
    #expect(test.origin.requestCount == 2)
  }
}
