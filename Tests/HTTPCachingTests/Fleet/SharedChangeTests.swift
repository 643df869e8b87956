import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A fleet: changes reach all nodes", .timeLimit(.minutes(10)))
struct SharedChangeTests {
  private func filled(
    _ count: Int = 2, _ paths: [String] = ["/"],
    configure: (inout HTTPCache.Configuration, Int) -> Void = { _, _ in }
  ) async throws -> TestFleet {
    let fleet = await TestFleet(count, configure: configure)
    fleet.origin.answers { _, number in
      (200, [.cacheControl: "max-age=600", .eTag: "\"\(number)\"", .cacheGroups: "\"g\""], "\(number)")
    }
    for node in fleet.nodes { for path in paths { try await node.get(path) } }
    #expect(fleet.origin.requests.count == paths.count)
    return fleet
  }

  // Each selects `/`.
  private static let selections: [CacheSelection] = [
    .all, .target(TestFleet.target("/")), .prefix("https://example.com/"), .key(TestFleet.key("/")),
    .group(origin: "https://example.com", name: "g"), .partition(mode: .shared, ""),
    .site(origin: "https://example.com", mode: .shared, partition: ""),
    .storedSince(Timestamp(seconds: 1_600_000_000)),
  ]

  @Test("A removal on one node removes on the others and in the tier", arguments: selections)
  func removes(_ selection: CacheSelection) async throws {
    let fleet = try await filled()
    try await fleet.nodes[0].cache.remove(selection)
    await fleet.applied()
    #expect(try await fleet.nodes[1].cache.entries(.all).entries.isEmpty)
    #expect(try await fleet.nodes[1].get("/").text == "2")
    // One node asked the origin, and the tier has its answer.
    #expect(try await fleet.nodes[0].get("/").text == "2")
    #expect(fleet.origin.requests.count == 2)
  }

  @Test("An invalidation on one node invalidates on the others and in the tier", arguments: selections)
  func invalidates(_ selection: CacheSelection) async throws {
    let fleet = try await filled()
    try await fleet.nodes[0].cache.invalidate(selection)
    await fleet.applied()
    #expect(try await fleet.nodes[1].get("/").text == "2")
    #expect(try await fleet.nodes[0].get("/").text == "2")
    #expect(fleet.origin.requests.count == 2)
  }

  @Test(
    "Selections by a node's own times and numbers stay on this node",
    arguments: [
      CacheSelection.storedBefore(Timestamp(seconds: .max)), .unusedSince(Timestamp(seconds: .max)),
    ])
  func local(_ selection: CacheSelection) async throws {
    let fleet = try await filled()
    try await fleet.nodes[0].cache.remove(selection)
    #expect(fleet.server.log.isEmpty)
    #expect(try await fleet.nodes[1].get("/").outcome.isHit)
  }

  @Test("A removed prefix is exact on each node; in the tier it covers the origin")
  func prefix() async throws {
    let fleet = try await filled(3, ["/a/1", "/b/1"])
    try await fleet.nodes[2].cache.remove(.storedBefore(Timestamp(seconds: .max)))
    try await fleet.nodes[0].cache.remove(.prefix("https://example.com/a/"))
    await fleet.applied()
    #expect(try await fleet.nodes[1].get("/b/1").outcome.isHit)
    #expect(try await fleet.nodes[1].get("/a/1").text == "3")
    // The entry of the tier is older than the change.
    #expect(try await fleet.nodes[2].get("/b/1").text == "4")
  }

  @Test("The removal of one variant stays on its node")
  func variant() async throws {
    let fleet = try await filled()
    let record = try #require(try await fleet.nodes[0].cache.entries(.all).entries.first).record
    try await fleet.nodes[0].cache.remove(.variant(record.key, sequence: record.sequence))
    #expect(fleet.server.log.isEmpty)
    #expect(try await fleet.nodes[1].get("/").outcome.isHit)
  }

  // holds 9111-4.4-1
  @Test("§4.4 An unsafe request through one node invalidates on all")
  func unsafe() async throws {
    let fleet = try await filled()
    try await fleet.nodes[0].get("/", method: .post)
    await fleet.applied()
    #expect(!(try await fleet.nodes[1].get("/").outcome.isHit))
  }

  @Test("A wipe on one node wipes the partition on the others and in the tier")
  func wipe() async throws {
    let fleet = try await filled()
    var options = RequestOptions()
    options.partition = "account"
    for node in fleet.nodes { try await node.get("/", options: options) }
    try await fleet.nodes[0].cache.wipe(partition: "account")
    await fleet.applied()
    let key = CacheKey(mode: .shared, partition: "account", target: TestFleet.target("/"))
    #expect(fleet.server.variants(key).isEmpty)
    #expect(try await fleet.nodes[1].cache.entries(.partition(mode: .shared, "account")).entries.isEmpty)
    #expect(try await fleet.nodes[1].get("/").outcome.isHit)
  }

  @Test("A wipe that overtakes requests of several nodes is one change, and one wipe of the tier")
  func overtakingWipe() async throws {
    let fleet = await TestFleet()
    fleet.origin.answers { _, number in (200, [.cacheControl: "max-age=600"], "\(number)") }
    var options = RequestOptions()
    options.partition = "account"
    fleet.origin.hold()
    // Other paths, because a node waits while another one asks the origin for the same.
    let requests = zip(fleet.nodes, ["/a", "/b"]).map { node, path in
      Task { [options] in try await node.get(path, options: options) }
    }
    await fleet.origin.arrived(2)
    try await fleet.nodes[0].cache.wipe(partition: "account")
    await fleet.applied()
    fleet.origin.release()
    for request in requests { _ = try await request.value }
    await fleet.applied()
    #expect(fleet.server.log.count { $0.change?.kind == .wipe } == 1)
    #expect(fleet.server.calls("wipe") == 1)
    for node in fleet.nodes { #expect(try await node.cache.entries(.all).entries.isEmpty) }
  }

  @Test("A watch sees the changes of other nodes")
  func watch() async throws {
    let fleet = try await filled()
    var updates = try fleet.nodes[1].cache.watch(TestFleet.request("/")).makeAsyncIterator()
    guard case .stored = await updates.next() else {
      Issue.record("the response is not stored")
      return
    }
    try await fleet.nodes[0].cache.removeAll()
    guard case .removed = await updates.next() else {
      Issue.record("the removal is not seen")
      return
    }
  }

  @Test("A response that was asked for before a change, and published after it, is used by no node")
  func askedBefore() async throws {
    let fleet = await TestFleet(3)
    fleet.origin.answers { _, number in (200, [.cacheControl: "max-age=600"], "\(number)") }
    fleet.origin.hold()
    let old = Task { try await fleet.nodes[0].get("/") }
    await fleet.origin.arrived(1)
    try await fleet.nodes[1].cache.invalidate(.target(TestFleet.target("/")))
    await fleet.applied()
    fleet.origin.release()
    _ = try await old.value
    let requests = fleet.origin.requests.count
    try await fleet.nodes[2].get("/")
    #expect(fleet.origin.requests.count == requests + 1)
    // Nor by the node that asked.
    #expect(!(try await fleet.nodes[0].get("/").outcome.isHit))
  }

  @Test("A look-up between a change here and its entry in the log does not bring the old response back")
  func lookUpBetween() async throws {
    let fleet = try await filled()
    let (node, gate) = (fleet.nodes[0], Gate())
    node.tier.onCall = { name in if name == "add" { try? await gate.pass() } }
    let change = Task { try await node.cache.remove(.target(TestFleet.target("/"))) }
    await gate.waitForArrivals(1)
    // The tier does not know of the change yet.
    #expect(try await node.get("/").text == "1")
    gate.open()
    _ = try await change.value
    #expect(try await node.get("/").text == "2")
  }

  @Test("A change is made again once it is in the log, also while its first time takes long")
  func again() async throws {
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let store = GatedStore(MemoryStore(capacity: 1 << 20, clock: clock))
    var configuration = HTTPCache.Configuration(rules: CacheRules(mode: .shared), clock: clock)
    configuration.shared = LoopbackTier(LoopbackServer(clock: clock))
    let cache = HTTPCache(configuration: configuration, store: store)
    #expect(await cache.join(within: .seconds(5)))
    store.holdsRemovals = true
    let change = Task { try await cache.remove(.target(TestFleet.target("/"))) }
    await store.gate.waitForArrivals(2)
    store.gate.open()
    _ = try await change.value
    await cache.close()
  }

  @Test("An own change does not hide another node's change that was made before it")
  func ownPosition() async throws {
    let fleet = try await filled(2, ["/a", "/b"])
    let (gate, node) = (Gate(), fleet.nodes[1])
    // The other node reads the log late.
    node.tier.onCall = { name in if name == "report" || name == "changes" { try? await gate.pass() } }
    try await fleet.nodes[0].cache.remove(.target(TestFleet.target("/a")))
    try await node.cache.remove(.target(TestFleet.target("/b")))
    gate.open()
    await fleet.applied()
    #expect(try await node.get("/a").text != "1")
  }

  @Test("A change tells how many nodes have applied it")
  func receipt() async throws {
    let fleet = try await filled(3)
    try await fleet.nodes[0].cache.removeAll()
    await fleet.applied()
    let receipt = try #require(try await fleet.nodes[0].cache.fleetReceipt(within: .zero))
    #expect(receipt.applied == 3)
    #expect(receipt.nodes == 3)
    #expect(receipt.isComplete)
    let gate = Gate()
    fleet.nodes[2].tier.onCall = { name in if name == "changes" || name == "report" { try? await gate.pass() }
    }
    try await fleet.nodes[0].cache.removeAll()
    await fleet.server.waitUntilApplied(by: "n1")
    await fleet.server.waitUntilApplied(by: "n0")
    let second = try await fleet.nodes[0].cache.fleetReceipt(within: .zero)
    #expect(second?.nodes == 3)
    #expect((second?.applied ?? 0) <= 3)
    gate.open()
    await fleet.applied()
    #expect(try await fleet.nodes[0].cache.fleetReceipt(within: .zero)?.isComplete == true)
  }

  @Test("More changes than can be applied one by one are one invalidation of everything")
  func backlog() async throws {
    let fleet = try await filled()
    let (gate, node) = (Gate(), fleet.nodes[1])
    node.tier.onCall = { name in if name == "changes" || name == "report" { try? await gate.pass() } }
    // The node reads nothing of what follows before the gate opens.
    try await fleet.nodes[0].cache.remove(.target(TestFleet.target("/")))
    await gate.waitForArrivals(1)
    for number in 0..<4_200 {
      try await fleet.nodes[0].cache.remove(.target(TestFleet.target("/\(number)")))
    }
    gate.open()
    await node.wait { if case .invalidatedAll(.backlog) = $0 { true } else { false } }
    await fleet.applied()
    #expect(!(try await node.get("/").outcome.isHit))
  }

  @Test("A change that a node cannot read is an invalidation of everything")
  func unreadable() async throws {
    let fleet = try await filled()
    fleet.server.addUnreadableChange()
    await fleet.applied()
    for node in fleet.nodes {
      #expect(node.count { if case .invalidatedAll(.unreadableChange) = $0 { true } else { false } } == 1)
    }
    try await fleet.nodes[0].get("/")
    #expect(fleet.origin.requests.count == 2)
  }
}

extension HTTPField.Name {
  fileprivate static var cacheGroups: HTTPField.Name { HTTPField.Name("Cache-Groups") ?? .accept }
}
