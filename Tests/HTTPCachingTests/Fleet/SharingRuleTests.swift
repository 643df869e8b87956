import HTTPCacheTesting
import Testing

@testable import HTTPCaching

@Suite("A fleet: what is shared, and what is not", .timeLimit(.minutes(10)))
struct SharingRuleTests {
  private static let secret = [UInt8](repeating: 7, count: 32)

  private func published(_ fleet: TestFleet, _ path: String = "/", mode: CacheMode = .shared) -> Int {
    fleet.server.variants(TestFleet.key(path, mode: mode)).count
  }

  @Test("A private cache shares the partitions that it is told to, and no others")
  func partitions() async throws {
    let fleet = await TestFleet(rules: CacheRules(mode: .private)) { configuration, _ in
      configuration.fleet.privatePartitions = ["team"]
    }
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    for partition in ["", "team", "other"] {
      var options = RequestOptions()
      options.partition = partition
      for node in fleet.nodes { try await node.get("/", options: options) }
    }
    #expect(fleet.origin.requests.count == 5)
    let keys = ["", "team", "other"].map {
      CacheKey(mode: .private, partition: $0, target: TestFleet.target("/"))
    }
    #expect(keys.map { fleet.server.variants($0).count } == [0, 1, 0])
    // Changes of other partitions stay here.
    try await fleet.nodes[0].cache.remove(.partition(mode: .private, "other"))
    try await fleet.nodes[0].cache.wipe(partition: "")
    #expect(fleet.server.log.isEmpty)
    try await fleet.nodes[0].cache.remove(.partition(mode: .private, "team"))
    #expect(fleet.server.log.count == 1)
  }

  @Test("A private cache without partitions to share keeps its changes to itself")
  func privateChanges() async throws {
    let fleet = await TestFleet(rules: CacheRules(mode: .private))
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    for node in fleet.nodes { try await node.get("/") }
    #expect(fleet.origin.requests.count == 2)
    try await fleet.nodes[0].cache.removeAll()
    #expect(fleet.server.log.isEmpty)
    #expect(try await fleet.nodes[1].get("/").outcome.isHit)
  }

  @Test("The partition of one user in a shared cache is not shared, and its changes reach all nodes")
  func oneUser() async throws {
    let fleet = await TestFleet()
    fleet.origin.answers { _, number in (200, [.cacheControl: "private, max-age=60"], "\(number)") }
    var options = RequestOptions(partition: "anna")
    options.isOneUser = true
    for node in fleet.nodes { try await node.get("/", options: options) }
    #expect(fleet.origin.requests.count == 2)
    let key = CacheKey(mode: .shared, partition: "anna", target: TestFleet.target("/"))
    #expect(fleet.server.variants(key).isEmpty)
    #expect(try await fleet.nodes[1].get("/", options: options).outcome.isHit)
    try await fleet.nodes[0].cache.wipe(partition: "anna")
    await fleet.applied()
    #expect(!(try await fleet.nodes[1].get("/", options: options).outcome.isHit))
  }

  #if Crypto
    @Test(
      "A response selected by a secret is shared only under a secret that all nodes have",
      arguments: [true, false])
    func varySecret(_ hasSecret: Bool) async throws {
      let fleet = await TestFleet(secret: hasSecret ? Self.secret : nil)
      fleet.origin.answers { request, _ in
        (200, [.cacheControl: "max-age=60, public", .vary: "Cookie"], request.headerFields[.cookie] ?? "")
      }
      for node in fleet.nodes { #expect(try await node.get("/", [.cookie: "a=1"]).text == "a=1") }
      #expect(fleet.origin.requests.count == (hasSecret ? 1 : 2))
      #expect(published(fleet) == (hasSecret ? 1 : 0))
      #expect(try await fleet.nodes[1].get("/", [.cookie: "a=2"]).text == "a=2")
    }
  #endif

  @Test(
    "A response for memory only, and one that a hook refuses, are not published", arguments: [true, false])
  func hook(_ isMemoryOnly: Bool) async throws {
    let fleet = await TestFleet { configuration, _ in
      configuration.willStore = StoringHook { _, proposal in
        guard isMemoryOnly else { return nil }
        var proposal = proposal
        proposal.storagePolicy = .allowedInMemoryOnly
        return proposal
      }
    }
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    try await fleet.nodes[0].get("/")
    #expect(published(fleet) == 0)
    #expect(fleet.server.calls("write") == 0)
  }

  @Test("A hook's fields are published as it left them, and each node asks its own hook")
  func hookChanges() async throws {
    let fleet = await TestFleet { configuration, number in
      configuration.willStore = number == 0 ? .stripping([.server]) : .notStoring { _, _ in true }
    }
    fleet.origin.always(200, [.cacheControl: "max-age=60", .server: "s"], "one")
    try await fleet.nodes[0].get("/")
    let answer = try await fleet.nodes[1].get("/")
    #expect(answer.text == "one")
    #expect(answer.head.headerFields[.server] == nil)
    #expect(try await fleet.nodes[1].cache.entries(.all).entries.isEmpty)
  }

  @Test(
    "RFC 9111 §7.3 A node that leaves out Set-Cookie does not use a response that another one stored with it",
    arguments: [true, false])
  func setCookie(refuses: Bool) async throws {
    let fleet = await TestFleet { configuration, number in
      configuration.rules.keepsSetCookie = number == 0
      configuration.rules.refusesSetCookie = number != 0 && refuses
    }
    fleet.origin.answers { _, number in
      (200, [.cacheControl: "max-age=60", .setCookie: "a=\(number)"], "\(number)")
    }
    #expect(try await fleet.nodes[0].get("/").text == "1")
    #expect(try await fleet.nodes[1].get("/").text == "2")
  }

  @Test("A part is not published")
  func part() async throws {
    let fleet = await TestFleet(via: RangeOrigin(count: 1_000))
    try await fleet.nodes[0].get("/", [.range: "bytes=0-9"])
    #expect(published(fleet) == 0)
    try await fleet.nodes[0].get("/")
    #expect(try await fleet.nodes[1].get("/").text.utf8.count == 1_000)
  }

  @Test("An adopted response and a seed are not published")
  func adopted() async throws {
    let seed = try #require(
      ListedSeeds.seed(
        TestFleet.target("/seed"), fields: [.cacheControl: "max-age=600"], text: "seed",
        at: Timestamp(seconds: 1_700_000_000)))
    let fleet = await TestFleet(rules: CacheRules(mode: .shared)) { configuration, number in
      if number == 0 { configuration.seeds = [ListedSeeds([seed])] }
    }
    #expect(try await fleet.nodes[0].get("/seed").outcome.isHit)
    #expect(published(fleet, "/seed") == 0)
  }

  @Test("RFC 9111 §3.5 A response to a request with credentials is used on other nodes as on its own")
  func authorized() async throws {
    let fleet = await TestFleet()
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    try await fleet.nodes[0].get("/", [.authorization: "Basic a"])
    #expect(published(fleet) == 0)
    fleet.origin.always(200, [.cacheControl: "max-age=60, public"], "two")
    try await fleet.nodes[0].get("/b", [.authorization: "Basic a"])
    #expect(try await fleet.nodes[1].get("/b", [.authorization: "Basic b"]).text == "two")
    #expect(fleet.origin.requests.count == 2)
  }

  @Test("No-Vary-Search: equivalent targets share a response of another node")
  func noVarySearch() async throws {
    let fleet = await TestFleet(rules: CacheRules(mode: .shared, obeysNoVarySearch: true))
    fleet.origin.answers { _, number in
      (200, [.cacheControl: "max-age=60", .noVarySearch: "params=(\"utm\")"], "\(number)")
    }
    #expect(try await fleet.nodes[0].get("/a?x=1&utm=1").text == "1")
    #expect(try await fleet.nodes[1].get("/a?x=1&utm=2").text == "1")
    let published = fleet.nodes[0].events.events.compactMap { event -> String? in
      if case .fleet(.published(let key, _)) = event { key.target } else { nil }
    }
    #expect(published == [TestFleet.target("/a?x=1")], "its rule goes with it")
    #expect(try await fleet.nodes[1].get("/a?x=2&utm=2").text == "2")
    #expect(try await fleet.nodes[0].get("/a?x=2").text == "2")
    #expect(fleet.origin.requests.count == 2)
    // A change of one of the targets reaches the response under each of them.
    try await fleet.nodes[1].cache.remove(.target(TestFleet.target("/a?x=1&utm=9")))
    await fleet.applied()
    #expect(try await fleet.nodes[0].get("/a?x=1&utm=3").text == "3")
  }

  @Test(
    "No-Vary-Search: a node that knows no rule purges a target, and does not use the response under another")
  func noVarySearchUnknown() async throws {
    let fleet = await TestFleet(3, rules: CacheRules(mode: .shared, obeysNoVarySearch: true))
    fleet.origin.answers { _, number in
      (200, [.cacheControl: "max-age=60", .noVarySearch: "params=(\"utm\")"], "\(number)")
    }
    #expect(try await fleet.nodes[0].get("/a?x=1&utm=1").text == "1")
    #expect(try await fleet.nodes[1].get("/a?x=1&utm=2").text == "1")
    try await fleet.nodes[2].cache.remove(.target(TestFleet.target("/a?x=1&utm=9")))
    await fleet.applied()
    for node in fleet.nodes.reversed() { #expect(try await node.get("/a?x=1&utm=3").text == "2") }
    #expect(fleet.origin.requests.count == 2)
  }

  @Test("A purge of a URL that is no key, by a program without the rules, reaches the tier, too")
  func purgedByAnotherName() async throws {
    let rules = CacheRules(
      mode: .shared, overrides: [RuleOverride(try .glob("/**"), effects: [.droppingQuery(["utm"])])])
    let fleet = await TestFleet(rules: rules)
    fleet.origin.answers { _, number in (200, [.cacheControl: "max-age=60"], "\(number)") }
    for node in fleet.nodes { #expect(try await node.get("/a?utm=1").text == "1") }
    let program = LoopbackTier(fleet.server)
    let purge = SharedChange(uid: "p", kind: .remove, selection: .target(TestFleet.target("/a?utm=2")))
    _ = try await program.add(purge, at: nil)
    await fleet.applied()
    #expect(try await fleet.nodes[0].get("/a?utm=3").text == "2")
    #expect(try await fleet.nodes[1].get("/a").text == "2")
    // Nor does a node use it that comes later.
    _ = try await program.add(SharedChange(uid: "q", kind: .remove, selection: purge.selection), at: nil)
    await fleet.applied()
    var configuration = HTTPCache.Configuration(rules: rules, clock: fleet.clock)
    configuration.shared = LoopbackTier(fleet.server)
    let late = try HTTPCache.open(configuration)
    #expect(await late.join(within: .seconds(60)))
    let response = try await late.respond(to: TestFleet.request("/a"), via: fleet.origin)
    #expect(String(decoding: try await response.body.collect().array, as: UTF8.self) == "3")
    await late.close()
  }

  @Test("A cache item that targets share is found by the names that were published")
  func alias() async throws {
    let name = try #require(HTTPField.Name("MobileAppCacheKey"))
    let rules = CacheRules(
      mode: .shared, overrides: [RuleOverride(try .glob("/news/**"), effects: [.alias(name)])])
    let fleet = await TestFleet(rules: rules)
    fleet.origin.answers { _, number in
      var fields: HTTPFields = [.cacheControl: "max-age=60"]
      fields[name] = "top"
      return (200, fields, "\(number)")
    }
    #expect(try await fleet.nodes[0].get("/news/a").text == "1")
    #expect(try await fleet.nodes[1].get("/news/a").text == "1")
    // The target is not known to belong to the item.
    #expect(try await fleet.nodes[1].get("/news/b").text == "2")
    #expect(fleet.origin.requests.count == 2)
  }

  @Test(
    "The explanation tells whether the tier would be asked, is connected, and up to when changes were read")
  func explanation() async throws {
    let fleet = await TestFleet()
    func answer(_ policy: CachePolicy) throws -> String? {
      try fleet.nodes[0].cache.explain(TestFleet.request("/"), policy: policy).steps
        .first { $0.question == "Is the fleet asked before the origin?" }?.answer
    }
    #expect(try answer(.standard) == "yes; connected as n0, all changes read up to 0 ms ago")
    #expect(
      try answer(.reload)
        == "no: the policy reload asks the origin; connected as n0, all changes read up to 0 ms ago")
    try #require(fleet.nodes[0].cache.engine.fleet).breaker.failed(.unreachable, uptime: fleet.clock.uptime)
    #expect(try answer(.standard)?.hasPrefix("no: the tier did not answer; ") == true)
    fleet.nodes[0].tier.isAway = true
    await fleet.nodes[0].wait { if case .disconnected = $0 { true } else { false } }
    #expect(try answer(.standard)?.hasPrefix("no: the tier is not connected") == true)
    #expect(try answer(.standard)?.contains("; n0, not connected") == true)
    #expect(
      try TestCache().cache.explain(TestFleet.request("/")).steps.allSatisfy {
        $0.question != "Is the fleet asked before the origin?"
      })
  }
}
