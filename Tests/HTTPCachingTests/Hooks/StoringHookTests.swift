import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@Suite("willStore has the last word on what is stored", .timeLimit(.minutes(10)))
struct StoringHookTests {
  private let fresh: HTTPFields = [.cacheControl: "max-age=60"]

  private func test(_ hook: StoringHook, rules: CacheRules = CacheRules()) -> TestCache<TestOrigin> {
    TestCache(rules: rules, configure: { $0.willStore = hook })
  }

  private func refusal(_ answer: TestAnswer) -> StorageRefusal? {
    guard case .forwarded(_, _, .doNotStore(let refusal), _) = answer.outcome else { return nil }
    return refusal
  }

  @Test("it sees request and proposal, and what it keeps with the response comes back with it")
  func userInfo() async throws {
    let seen = Mutex<[(String?, ProposedRecord)]>([])
    let test = test(
      StoringHook { request, proposal in
        seen.withLock { $0.append((request.path, proposal)) }
        var proposal = proposal
        proposal.userInfo = [1, 2, 3]
        return proposal
      })
    test.origin.always(200, fresh, "one")
    let first = try await test.respond("/a")
    _ = try await first.body.collect()
    #expect(first.userInfo.isEmpty)
    #expect(first.storedAt == nil)
    test.clock.advance(by: 5)
    let second = try await test.respond("/a")
    #expect(second.userInfo == [1, 2, 3])
    #expect(second.storedAt == Timestamp(seconds: 1_700_000_000))
    let (path, proposal) = try #require(seen.withLock { $0.first })
    #expect(path == "/a")
    #expect(proposal.head.status == .ok)
    #expect(proposal.key.target == "https://example.com/a")
    #expect(!proposal.isFreshening)
    #expect(proposal.storagePolicy == .allowed)
  }

  @Test("nil and notAllowed: not stored, with the reason; the answer is untouched", arguments: [true, false])
  func refusing(returnsNil: Bool) async throws {
    let test = test(
      StoringHook { _, proposal in
        var proposal = proposal
        proposal.storagePolicy = .notAllowed
        return returnsNil ? nil : proposal
      })
    test.origin.always(200, fresh, "one")
    let answer = try await test.get("/")
    #expect(answer.text == "one")
    #expect(refusal(answer) == .hook)
    #expect(try await test.get("/").text == "one")
    #expect(test.origin.requests.count == 2)
    let explanation = try test.cache.explain(test.request("/"))
    #expect(explanation.refusals.first?.steps.map(\.answer) == ["no: refused by willStore"])
  }

  @Test("one that throws: not stored, and told")
  func throwing() async throws {
    struct Broken: Error {}
    let test = test(StoringHook { _, _ in throw Broken() })
    test.origin.always(200, fresh, "one")
    let answer = try await test.get("/")
    #expect(answer.text == "one")
    #expect(refusal(answer) == .hookFailed)
    let told = test.events.events.contains {
      if case .hookFailed(_, .threw(let error)) = $0 { error is Broken } else { false }
    }
    #expect(told)
    #expect(try await test.get("/").text == "one")
    #expect(test.origin.requests.count == 2)
  }

  @Test("one that never returns is left alone after a second")
  func neverReturning() async throws {
    let gate = Gate()
    let test = test(
      StoringHook { _, proposal in
        // Ignores that it is cancelled.
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
          Task.detached {
            try? await gate.pass()
            continuation.resume()
          }
        }
        return proposal
      })
    test.origin.always(200, fresh, "one")
    let answering = Task { try await test.get("/") }
    await gate.waitForArrivals(1)
    await test.clock.waitForSleepers()
    test.clock.advance(by: 1)
    let answer = try await answering.value
    #expect(answer.text == "one")
    #expect(refusal(answer) == .hookTimedOut)
    #expect(
      test.events.count { if case .hookFailed(_, .timedOut) = $0 { true } else { false } } == 1)
    gate.open()
    #expect(try test.cache.store.read(#require(key())).isEmpty)
  }

  private func key() -> CacheKey? {
    CacheKey(request: TestCache().request("/"), rules: CacheRules())
  }

  @Test("a refused response takes the old one's place as far as that it is not used any more")
  func superseding() async throws {
    let test = test(.notStoring { _, response in response.headerFields[.server] == "new" })
    try await test.store(fresh, "old")
    test.origin.always(200, [.cacheControl: "max-age=60", .server: "new"], "new")
    #expect(try await test.get("/", policy: .reload).text == "new")
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
  }

  @Test("authentication is stripped of what is stored, trailers too, and of nothing else")
  func stripping() async throws {
    let token = try #require(HTTPField.Name("X-Auth-Token"))
    let test = test(.strippingAuthentication(and: [token]))
    let fields: HTTPFields = [
      .cacheControl: "max-age=60", .setCookie: "a=b", .wwwAuthenticate: "Basic", token: "secret",
      .authenticationInfo: "x", .server: "s",
    ]
    test.origin.streams(fields) { _ in
      TestBody(piece: [65], count: 1, trailers: [token: "late", .server: "t"])
    }
    let first = try await test.get("/")
    for field in fields { #expect(first.head.headerFields[field.name] == field.value) }
    let second = try await test.get("/")
    #expect(second.head.headerFields[.server] == "s")
    #expect(second.trailers == [.server: "t"])
    for name in [HTTPField.Name.setCookie, .wwwAuthenticate, .authenticationInfo, token] {
      #expect(second.head.headerFields[name] == nil)
    }
    #expect(test.origin.requests.count == 1)
  }

  @Test("a 304 does not bring a stripped field back, and the user info stays")
  func freshening() async throws {
    let seen = Mutex<[Bool]>([])
    let test = test(
      StoringHook { _, proposal in
        seen.withLock { $0.append(proposal.isFreshening) }
        var proposal = proposal
        if proposal.userInfo.isEmpty { proposal.userInfo = [7] }
        return proposal
      }.then(.strippingAuthentication))
    test.origin.answers { request, _ in
      let fields: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"a\"", .setCookie: "a=b"]
      return request.headerFields[.ifNoneMatch] == nil ? (200, fields, "one") : (304, fields, "")
    }
    try await test.get("/")
    test.clock.advance(by: 20)
    let confirmed = try await test.respond("/")
    #expect(confirmed.outcome.fetchType == .validated)
    #expect(confirmed.userInfo == [7])
    #expect(confirmed.head.headerFields[.setCookie] == "a=b")
    let after = try await test.respond("/")
    #expect(after.outcome.fetchType == .localCache)
    #expect(after.head.headerFields[.setCookie] == nil)
    #expect(after.userInfo == [7])
    #expect(seen.withLock { $0 } == [false, true])
  }

  @Test("a refused 304 answers, and removes what is stored", arguments: StoreKind.allCases)
  func refusingFreshening(kind: StoreKind) async throws {
    let origin = RangeOrigin(count: 26, [.cacheControl: "max-age=10", .eTag: "\"a\""])
    let test = try TestCache(kind, origin: origin) {
      $0.willStore = StoringHook { _, proposal in proposal.isFreshening ? nil : proposal }
    }
    #expect(try await test.get().status == 200)
    test.clock.advance(by: 20)
    let confirmed = try await test.get()
    #expect(confirmed.outcome.fetchType == .validated)
    #expect(confirmed.text == test.origin.text)
    #expect(try test.cache.store.read(#require(key())).isEmpty)
    #expect(
      test.events.count {
        if case .removed(_, .refused(.hook)) = $0 { true } else { false }
      } == 1)
  }

  @Test("an answer to HEAD passes the hook before it changes what is stored")
  func head() async throws {
    let test = test(.strippingAuthentication)
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"a\"", .setCookie: "a=b"], "one", age: 20)
    test.origin.always(
      200, [.cacheControl: "max-age=99", .eTag: "\"a\"", .setCookie: "a=b"], "")
    try await test.get("/", method: .head)
    let answer = try await test.get("/")
    #expect(answer.outcome == .hit(age: .seconds(0), lifetime: .seconds(99), allowance: nil))
    #expect(answer.head.headerFields[.setCookie] == nil)
  }

  @Test("changes that would make a wrong answer are ignored; others count")
  func lies() async throws {
    let test = test(
      StoringHook { _, proposal in
        var proposal = proposal
        proposal.head.status = .notFound
        proposal.head.headerFields = [
          .contentLength: "99", .contentEncoding: "gzip", .vary: "Accept", .eTag: "\"other\"",
          .age: "1000", .date: "Sun, 06 Nov 1994 08:49:37 GMT", .transferEncoding: "chunked",
          .cacheControl: "max-age=5", .server: "changed",
        ]
        return proposal
      })
    test.origin.always(
      200, [.cacheControl: "max-age=60", .eTag: "\"a\"", .contentLength: "3", .lastModified: "x"],
      "one")
    try await test.get("/")
    let answer = try await test.get("/")
    let fields = answer.head.headerFields
    #expect(answer.outcome == .hit(age: .seconds(0), lifetime: .seconds(5), allowance: nil))
    #expect(answer.text == "one")
    #expect(answer.status == 200)
    #expect(fields[.contentLength] == "3")
    #expect(fields[.eTag] == "\"a\"")
    #expect(fields[.server] == "changed")
    for name in [HTTPField.Name.contentEncoding, .vary, .transferEncoding, .lastModified] {
      #expect(fields[name] == nil)
    }
  }

  @Test("a change that forbids storing is obeyed")
  func addingNoStore() async throws {
    let test = test(
      StoringHook { _, proposal in
        var proposal = proposal
        proposal.head.headerFields[.cacheControl] = "no-store"
        return proposal
      })
    test.origin.always(200, fresh, "one")
    #expect(refusal(try await test.get("/")) == .responseNoStore)
  }

  @Test("the configuration's hook comes first, then the request's")
  func order() async throws {
    let add = { (byte: UInt8) in
      StoringHook { _, proposal in
        var proposal = proposal
        proposal.userInfo.append(byte)
        return proposal
      }
    }
    let test = test(add(1))
    test.origin.always(200, fresh, "one")
    try await test.get("/", options: RequestOptions(willStore: add(2)))
    #expect(try await test.respond("/").userInfo == [1, 2])
  }

  @Test("include and exclude by pattern")
  func patterns() async throws {
    let test = test(
      StoringHook.storing(matching: try .glob("/images/**")).then(
        .notStoring(matching: try .glob("/**/private/*"))))
    test.origin.always(200, fresh, "one")
    for path in ["/images/a", "/images/private/a", "/other"] { try await test.get(path) }
    for path in ["/images/a", "/images/private/a", "/other"] { try await test.get(path) }
    #expect(
      test.origin.requests.map(\.path) == [
        "/images/a", "/images/private/a", "/other", "/images/private/a", "/other",
      ])
  }

  @Test("a follower of another's response gets it as it is stored")
  func coalesced() async throws {
    let test = test(.strippingAuthentication)
    test.origin.always(200, [.cacheControl: "max-age=60", .setCookie: "a=b"], "one")
    test.origin.hold()
    let answers = try await withThrowingTaskGroup(of: TestAnswer.self) { group in
      for _ in 0..<10 { group.addTask { try await test.get("/") } }
      await test.origin.arrived(1)
      try await until { test.cache.unfinishedWork.waiters == 9 }
      test.origin.release()
      return try await group.reduce(into: [TestAnswer]()) { $0.append($1) }
    }
    #expect(answers.allSatisfy { $0.text == "one" })
    #expect(answers.filter { $0.head.headerFields[.setCookie] == "a=b" }.count == 1)
    #expect(test.origin.requests.count == 1)
  }
}
