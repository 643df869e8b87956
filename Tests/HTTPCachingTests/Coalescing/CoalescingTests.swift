import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Coalescing: requests that wait for one transfer", .timeLimit(.minutes(10)))
struct CoalescingTests {
  private let test = TestCache()

  /// Waits until this many requests wait for a leader.
  private func waiting(_ count: Int) async throws {
    try await until { test.cache.unfinishedWork.waiters == count }
  }

  /// Starts `count` equal requests while the origin holds its head, then releases it.
  private func together(
    _ count: Int, _ fields: HTTPFields = [:], expecting arrivals: Int
  ) async throws -> [TestAnswer] {
    test.origin.hold()
    return try await withThrowingTaskGroup(of: TestAnswer.self) { group in
      for _ in 0..<count { group.addTask { try await test.get("/", fields) } }
      await test.origin.arrived(arrivals)
      try await waiting(count - arrivals)
      test.origin.release()
      var answers: [TestAnswer] = []
      for try await answer in group { answers.append(answer) }
      return answers
    }
  }

  @Test("one request goes to the origin, all get its response")
  func collapsed() async throws {
    test.origin.always(200, [.cacheControl: "max-age=10"], "body")
    let answers = try await together(20, expecting: 1)
    #expect(answers.count == 20)
    #expect(answers.allSatisfy { $0.text == "body" })
    #expect(test.origin.requests.count == 1)
  }

  // holds 9111-5.2.2.5-2
  @Test(
    "a response that must not be stored is nobody else's",
    arguments: [
      "no-store", "max-age=0", "no-cache",
    ])
  func notShared(cacheControl: String) async throws {
    test.origin.answers { _, number in
      (200, [.cacheControl: cacheControl, .eTag: "\"\(number)\""], "\(number)")
    }
    let answers = try await together(5, expecting: 1)
    #expect(Set(answers.map(\.text)).count == test.origin.requests.count)
    #expect(answers.allSatisfy { !$0.outcome.isCollapsed })
  }

  @Test(
    "requests with ranges and conditions of their own do not wait",
    arguments: [
      HTTPFields([HTTPField(name: .range, value: "bytes=0-1")]),
      HTTPFields([HTTPField(name: .ifNoneMatch, value: "\"x\"")]),
    ])
  func neverWait(fields: HTTPFields) async throws {
    test.origin.always(200, [.cacheControl: "max-age=10"], "body")
    _ = try await together(4, fields, expecting: 4)
    #expect(test.origin.requests.count == 4)
  }

  @Test("authorized requests do not wait in a shared cache")
  func authorized() async throws {
    let test = TestCache(rules: CacheRules(mode: .shared))
    test.origin.always(200, [.cacheControl: "max-age=10"], "body")
    test.origin.hold()
    async let first = test.get("/", [.authorization: "a"])
    async let second = test.get("/", [.authorization: "b"])
    await test.origin.arrived(2)
    test.origin.release()
    let answers = try await [first, second]
    #expect(answers.allSatisfy { !$0.outcome.isCollapsed })
    #expect(test.origin.requests.count == 2)
  }

  // holds 9111-4.1-1
  @Test("a follower whose Vary does not match asks for itself")
  func otherVariant() async throws {
    test.origin.answers { request, _ in
      let language = request.headerFields[.acceptLanguage] ?? ""
      return (200, [.cacheControl: "max-age=10", .vary: "Accept-Language"], language)
    }
    test.origin.hold()
    async let german = test.get("/", [.acceptLanguage: "de"])
    await test.origin.arrived(1)
    async let french = test.get("/", [.acceptLanguage: "fr"])
    try await waiting(1)
    test.origin.release()
    #expect(try await german.text == "de")
    #expect(try await french.text == "fr")
  }

  @Test("a leader that fails passes the lead on once")
  func passedOn() async throws {
    test.origin.always(200, [.cacheControl: "max-age=10"], "body")
    test.origin.fails(.unreachable, times: 1)
    test.origin.hold()
    let results = try await withThrowingTaskGroup(of: TestAnswer?.self) { group in
      for _ in 0..<6 { group.addTask { try? await test.get("/") } }
      await test.origin.arrived(1)
      try await waiting(5)
      test.origin.release()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.filter { $0 == nil }.count == 1, "only the leader fails")
    #expect(results.compactMap(\.self).allSatisfy { $0.text == "body" })
  }

  @Test("a leader whose caller leaves before the head does not take the others along")
  func leaderLeaves() async throws {
    test.origin.always(200, [.cacheControl: "max-age=10"], "body")
    test.origin.hold()
    let leader = Task { try await test.get("/") }
    await test.origin.arrived(1)
    let follower = Task { try await test.get("/") }
    try await waiting(1)
    leader.cancel()
    test.origin.release()
    #expect(try await follower.value.text == "body")
  }

  @Test("requests that ask the network first share its transfer, in either order")
  func networkElseCache() async throws {
    test.origin.always(200, [.cacheControl: "max-age=10"], "body")
    for (index, policies) in [
      [CachePolicy.networkElseCache(), .networkElseCache()], [.standard, .networkElseCache()],
      [.networkElseCache(), .standard],
    ].enumerated() {
      let gate = Gate()
      let body = TestBody(piece: [1, 2, 3], count: 3, announced: 9, gate: (at: 2, gate: gate))
      test.origin.streams([.cacheControl: "max-age=10"]) { _ in body }
      let leader = try await test.respond("/\(index)", policy: policies[0])
      let follower = try await test.respond("/\(index)", policy: policies[1])
      #expect(follower.outcome.isCollapsed)
      gate.open()
      async let rest = leader.body.collect()
      async let all = follower.body.collect()
      #expect(try await rest.count == 9)
      #expect(try await all.count == 9)
      #expect(test.origin.requests.count == index + 1)
    }
    // Afterwards the network is asked again.
    test.origin.always(200, [.cacheControl: "max-age=10"], "new")
    #expect(try await test.get("/0", policy: .networkElseCache()).text == "new")
  }

  @Test("a follower streams while the leader still receives")
  func streamsAlong() async throws {
    let gate = Gate()
    let body = TestBody(piece: [1, 2, 3], count: 3, announced: 9, gate: (at: 2, gate: gate))
    test.origin.streams([.cacheControl: "max-age=10"]) { _ in body }
    let leader = try await test.respond("/")
    let first = try await leader.body.source.next()
    #expect(first?.array == [1, 2, 3])
    let follower = try await test.respond("/")
    #expect(follower.outcome.isCollapsed)
    #expect(try await follower.body.source.next()?.array == [1, 2, 3])
    gate.open()
    async let rest = leader.body.collect()
    async let all = follower.body.collect()
    #expect(try await rest.count == 6)
    #expect(try await all.count == 6)
    #expect(test.origin.requests.count == 1)
  }
}
