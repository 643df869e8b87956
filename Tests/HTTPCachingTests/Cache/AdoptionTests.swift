import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("What comes another way: rules and hooks count for it too", .timeLimit(.minutes(10)))
struct AdoptionTests {
  private func adopt(
    _ test: TestCache<TestOrigin>, _ fields: HTTPFields = [.cacheControl: "max-age=60"],
    userInfo: [UInt8] = [], isMemoryOnly: Bool = false
  ) async throws -> CacheRecord? {
    await test.cache.adopt(
      AdoptedResponse(
        HTTPResponse(status: .ok, headerFields: fields), body: BodyBytes(Array("body".utf8)),
        isDecoded: false, userInfo: userInfo, isMemoryOnly: isMemoryOnly),
      to: test.request("/a"), asking: .concurrent(test.clock, executor: nil))
    return try await test.cache.store.entries(.all, after: nil, limit: 9).entries.first?.record
  }

  @Test("an override that says never to store")
  func override() async throws {
    let test = TestCache(
      rules: CacheRules(overrides: [RuleOverride(try .glob("/a"), effects: [.stores(false)])]))
    #expect(try await adopt(test) == nil)
    #expect(
      test.events.count { if case .notStored(_, .override) = $0 { true } else { false } } == 1)
  }

  @Test("an override that pins")
  func pinning() async throws {
    let test = TestCache(
      rules: CacheRules(overrides: [RuleOverride(try .glob("/a"), effects: [.pin])]))
    #expect(try await adopt(test)?.isPinned == true)
  }

  @Test("it replaces a variant that requests would go on selecting (RFC 9111 §4.1)")
  func otherVary() async throws {
    let test = TestCache()
    _ = try await adopt(test, [.cacheControl: "max-age=60", .vary: "Accept-Language", .eTag: "\"old\""])
    test.clock.advance(by: 1)
    _ = try await adopt(test, [.cacheControl: "max-age=60", .eTag: "\"new\""])
    #expect(test.cache.stored(for: test.request("/a"))?.response.head.headerFields[.eTag] == "\"new\"")
    let entries = try await test.cache.store.entries(.all, after: nil, limit: 9).entries
    #expect(entries.map { $0.record.response.head.headerFields[.eTag] } == ["\"new\""])
  }

  @Test("a hook strips, keeps in memory, adds and forbids")
  func hooks() async throws {
    let stripping = TestCache { $0.willStore = .strippingAuthentication }
    let fields: HTTPFields = [.cacheControl: "max-age=60", .setCookie: "sid=A"]
    let record = try #require(try await adopt(stripping, fields))
    #expect(record.response.head.headerFields[.setCookie] == nil)
    #expect(record.response.head.headerFields[.cacheControl] == "max-age=60")
    #expect(try await adopt(TestCache { $0.willStore = .secureInMemoryOnly })?.isMemoryOnly == true)
    let adding = TestCache {
      $0.willStore = StoringHook { _, proposal in
        await Task.yield()
        var proposal = proposal
        proposal.userInfo += [2]
        return proposal
      }
    }
    #expect(try await adopt(adding, userInfo: [1])?.userInfo == [1, 2])
    let forbidding = TestCache { $0.willStore = .notStoring { _, _ in true } }
    #expect(try await adopt(forbidding) == nil)
    #expect(
      forbidding.events.count { if case .notStored(_, .hook) = $0 { true } else { false } } == 1)
  }

  @Test("the note of why it was refused holds nothing of what may be in memory only")
  func confidentialNote() async throws {
    let test = TestCache(rules: CacheRules(mode: .shared))
    let partial: HTTPFields = [.cacheControl: "max-age=60", .vary: "*", .eTag: "\"secret\""]
    _ = try await adopt(test, partial, isMemoryOnly: true)
    let note = try #require(try test.cache.refusals(of: test.request("/a")).first)
    #expect(note.explanation == CacheExplanation.refusal(.varyAny))
  }

  @Test("removing reaches what a request finds by another name", arguments: [true, false])
  func removing(isAlias: Bool) async throws {
    let name = try #require(HTTPField.Name("X-Item"))
    var rules = CacheRules(obeysNoVarySearch: true)
    if isAlias {
      rules = CacheRules(overrides: [RuleOverride(try .glob("/**"), effects: [.alias(name)])])
    }
    let test = TestCache(rules: rules)
    try await test.store(
      [.cacheControl: "max-age=60", isAlias ? name : .noVarySearch: isAlias ? "top" : "except=()"], "x",
      at: "/a?1")
    let request = test.request(isAlias ? "/a?1" : "/a?2")
    #expect(test.cache.stored(for: request) != nil)
    await test.cache.removeStored(for: request)
    #expect(test.cache.stored(for: request) == nil)
    #expect(test.cache.stored(for: test.request("/a?1")) == nil)
  }

  @Test("the groups that an upload's answer names are invalidated (RFC 9875 §3)")
  func groups() async throws {
    let test = TestCache()
    try await test.store([.cacheControl: "max-age=60", .cacheGroups: "\"g\""], "one", at: "/b")
    await test.cache.invalidate(
      after: test.request("/upload", method: .post),
      HTTPResponse(status: .ok, headerFields: [.cacheGroupInvalidation: "\"g\""]))
    test.origin.always(200, [.cacheControl: "max-age=60"], "two")
    #expect(try await test.get("/b").text == "two")
  }

  @Test("what is stored tells its real age and staleness, with the overrides as they are now")
  func outcome() async throws {
    let test = TestCache(
      rules: CacheRules(
        overrides: [RuleOverride(try .glob("/b"), effects: [.lifetime(.exactly(.seconds(5)))])]))
    test.origin.always(200, [.cacheControl: "max-age=60"], "one")
    for path in ["/a", "/b"] { try await test.get(path) }
    func outcome(_ path: String, method: HTTPRequest.Method = .get) -> CacheOutcome? {
      test.cache.stored(for: test.request(path))?.response.outcome
    }
    test.clock.advance(by: 10)
    #expect(outcome("/a") == .hit(age: .seconds(10), lifetime: .seconds(60), allowance: nil))
    #expect(
      outcome("/b") == .hit(age: .seconds(10), lifetime: .seconds(5), allowance: .policy(.cacheElseNetwork)))
    try await test.get("/a", method: .put)
    #expect(
      outcome("/a") == .hit(age: .seconds(10), lifetime: .seconds(60), allowance: .policy(.cacheElseNetwork)),
      "invalidated, so not to be taken for fresh")
  }

  @Test("while the cache is offline, what is passed on is not to go to the origin either")
  func offline() {
    let test = TestCache()
    let request = test.request("/upload", method: .post)
    #expect(test.cache.refusalWhileOffline(of: request) == nil)
    test.cache.isOffline = true
    #expect(test.cache.refusalWhileOffline(of: request)?.kind == .unreachable)
    #expect(
      test.events.count { if case .notAsked(_, .forced) = $0 { true } else { false } } == 1)
  }
}
