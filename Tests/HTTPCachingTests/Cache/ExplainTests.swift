import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("What explain says of a request", .timeLimit(.minutes(10)))
struct ExplainTests {
  /// Stores a response, or the first octets of one whose transfer breaks off.
  private func store(in test: TestCache<TestOrigin>, isWhole: Bool, age: Int64) async throws {
    let fields: HTTPFields = [
      .cacheControl: "max-age=60", .vary: "Accept", .eTag: "\"1\"",
      .date: test.clock.now.httpDate,
    ]
    if isWhole {
      try await test.store(fields, "body")
    } else {
      test.origin.streams(fields) { _ in
        TestBody(piece: [1, 2, 3], count: 9, announced: 27, failsAt: 2)
      }
      let response = try await test.respond("/")
      await #expect(throws: UpstreamError.self) { try await response.body.collect() }
      test.origin.always(200, fields, String(repeating: "\u{1}\u{2}\u{3}", count: 9))
    }
    test.clock.advance(by: age)
  }

  @Test("What is stored, but decoded, is told to a request that cannot take it")
  func decoded() async throws {
    let test = TestCache()
    let answer = ScriptedResponse(
      headers: ["Cache-Control": "max-age=60", "Content-Encoding": "gzip"], body: "body")
    let request = test.request("/")
    let stored = try await test.cache.respond(to: request, via: ScriptedUpstream([answer.decoded()]))
    _ = try await stored.body.collect()
    let told = { (explanation: CacheExplanation) in
      explanation.steps.first { $0.question == "Is there something that this request cannot take?" }
    }
    let wire = try test.cache.explain(request)
    #expect(told(wire)?.answer == "yes: 1, decoded before it was stored")
    let session = try test.cache.explain(
      request, options: RequestOptions(bodyForms: .decoded))
    #expect(told(session) == nil)
    guard case .fresh = session.decision else {
      Issue.record("\(session)")
      return
    }
  }

  @Test("§4.3.1 The conditional request offers the tags of all variants")
  func conditional() async throws {
    let test = TestCache()
    test.origin.answers { request, _ in
      let tag = request.headerFields[.accept] ?? ""
      return (200, [.cacheControl: "max-age=60", .vary: "Accept", .eTag: "\"\(tag)\""], "body")
    }
    for accept in ["a", "b"] { try await test.get("/", [.accept: accept]) }
    let unmatched = try test.cache.explain(test.request("/", [.accept: "c"]))
    let changed = "Has it changed? The origin is asked:"
    let asked = unmatched.steps.first { $0.question == changed }
    #expect(asked?.answer == "GET with If-None-Match: \"b\", \"a\"")
    test.clock.advance(by: 90)
    let request = test.request("/", [.accept: "a", .ifNoneMatch: "\"x\""])
    let stale = try test.cache.explain(request)
    #expect(
      stale.steps.first { $0.question == changed }?.answer
        == "GET with If-None-Match: \"a\", \"b\"")
    #expect(
      stale.steps.contains {
        $0.description
          == "What becomes of its own condition or range? kept for the answer: "
          + "If-None-Match: \"x\" (RFC 9111 §4.3.2)"
      })
    _ = try await test.get("/", [.accept: "a", .ifNoneMatch: "\"x\""])
    #expect(test.origin.requests.last?.headerFields[.ifNoneMatch] == "\"a\", \"b\"")
  }

  @Test("§3.4 What is missing of an incomplete response is told as it is then asked for")
  func incomplete() async throws {
    let test = TestCache()
    try await store(in: test, isWhole: false, age: 0)
    let explanation = try test.cache.explain(test.request("/"))
    #expect(explanation.decision == .miss(.partial))
    #expect(
      explanation.steps.contains {
        $0.description
          == "What is missing? The origin is asked: GET with If-Range: \"1\"; Range: bytes=6- (RFC 9111 §3.4)"
      })
  }

  @Test(
    "What explain says is what is then done",
    arguments: [
      CachePolicy.standard, .reload, .reloadEverywhere, .revalidate, .cacheElseNetwork, .cacheOnly,
      .bypass, .networkElseCache(),
    ])
  func agrees(policy: CachePolicy) async throws {
    let requests: [(HTTPFields, HTTPRequest.Method)] = [
      ([:], .get), ([:], .head), ([:], .post), ([.range: "bytes=1-2"], .get),
      ([.cacheControl: "no-cache"], .get),
      ([.cacheControl: "max-age=5"], .get), ([.cacheControl: "max-stale"], .get),
      ([.cacheControl: "only-if-cached"], .get), ([.ifMatch: "\"1\""], .get), ([.accept: "b/b"], .get),
    ]
    for (fields, method) in requests {
      let states: [(Int64?, Bool)] = [
        (nil, true), (0, true), (30, true), (90, true), (0, false), (90, false),
      ]
      for (age, isWhole) in states {
        let test = TestCache()
        if let age { try await store(in: test, isWhole: isWhole, age: age) }
        let request = test.request("/", fields, method: method)
        let decision = try #require(try test.cache.explain(request, policy: policy).decision)
        let outcome = try await test.get("/", fields, method: method, policy: policy).outcome
        let expected: ReuseDecision? =
          switch outcome {
          case .hit(let age, let lifetime, nil): .fresh(age: age, lifetime: lifetime)
          case .hit(let age, let lifetime, let allowance?):
            .stale(allowance, age: age, lifetime: lifetime)
          case .forwarded(.miss(let reason), _, _, _), .shared(.miss(let reason), _, _): .miss(reason)
          case .forwarded(.validation(let reason), _, _, _), .validated(let reason, _, _),
            .shared(.validation(let reason), _, _):
            .validate(reason)
          case .unsatisfiable(let reason): .unsatisfiable(reason)
          }
        #expect(decision == expected)
      }
    }
  }
}
