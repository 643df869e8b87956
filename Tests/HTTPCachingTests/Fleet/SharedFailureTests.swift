import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A fleet: the tier fails, forgets, comes back", .timeLimit(.minutes(10)))
struct SharedFailureTests {
  private static let slash = CacheSelection.target(TestFleet.target("/"))

  @Test("Split brain: a server that lost a change gets it again, and no node uses what the change overtook")
  func failover() async throws {
    let fleet = try await TestFleet.filled(3)
    fleet.server.replicate()
    try await fleet.nodes[0].cache.remove(Self.slash)
    await fleet.applied()
    // The replica has the old response, and no change.
    fleet.server.failOver()
    #expect(fleet.server.variants(TestFleet.key("/")).count == 1)
    #expect(fleet.server.log.isEmpty)
    await fleet.advance {
      fleet.nodes.allSatisfy { $0.count { if case .connected = $0 { true } else { false } } == 2 }
    }
    await fleet.applied()
    #expect(fleet.server.log.contains { $0.change?.selection == Self.slash })
    for node in fleet.nodes { #expect(try await node.get("/").text == "2") }
    // A node that comes now sees it, too.
    #expect(fleet.origin.requests.count == 2)
  }

  @Test("A server that restarts empty: the changes are added again, and the nodes go on")
  func restartsEmpty() async throws {
    let fleet = try await TestFleet.filled(2)
    try await fleet.nodes[0].cache.remove(Self.slash)
    await fleet.applied()
    fleet.server.failOver()
    await fleet.advance {
      fleet.nodes.allSatisfy { $0.count { if case .connected = $0 { true } else { false } } == 2 }
    }
    await fleet.applied()
    #expect(fleet.server.log.contains { $0.change?.selection == Self.slash })
    for node in fleet.nodes { #expect(try await node.get("/").text == "2") }
    #expect(fleet.origin.requests.count == 2)
  }

  @Test("A promoted server whose clock is behind: lost changes are added above all positions that were seen")
  func clockBehind() async throws {
    let fleet = try await TestFleet.filled(2)
    try await fleet.nodes[0].cache.remove(.target(TestFleet.target("/other")))
    await fleet.applied()
    fleet.server.replicate()
    fleet.clock.advance(by: .milliseconds(5))
    try await fleet.nodes[0].cache.remove(Self.slash)
    await fleet.applied()
    let highest = try #require(fleet.server.log.last).position
    fleet.server.shiftClock(by: -3_600_000)
    fleet.server.failOver()
    await fleet.advance {
      fleet.nodes.allSatisfy { $0.count { if case .connected = $0 { true } else { false } } == 2 }
    }
    await fleet.applied()
    let again = fleet.server.log.filter { $0.change?.selection == Self.slash }
    #expect(!again.isEmpty)
    #expect(again.allSatisfy { $0.position > highest })
    for node in fleet.nodes { #expect(try await node.get("/").text == "2") }
  }

  @Test("FLUSHALL: the changes are added again within a heartbeat")
  func flush() async throws {
    let fleet = try await TestFleet.filled(3)
    try await fleet.nodes[0].cache.remove(Self.slash)
    await fleet.applied()
    fleet.server.flush()
    await fleet.advance { fleet.nodes.contains { $0.count { $0 == .connected(restored: 1) } == 1 } }
    #expect(fleet.server.log.contains { $0.change?.selection == Self.slash })
  }

  @Test(
    "A server that lost its table, and not its log: a node that comes later does not use what was removed")
  func lostTable() async throws {
    let fleet = try await TestFleet.filled(2)
    try await fleet.nodes[0].cache.remove(Self.slash)
    await fleet.applied()
    fleet.server.loseTable()
    #expect(fleet.server.variants(TestFleet.key("/")).count == 1)
    try await expectNew(fleet)
  }

  @Test("A server that lost its table and its log: a node that comes later does not use what is left")
  func lostTableAndLog() async throws {
    let fleet = try await TestFleet.filled(1)
    try await fleet.nodes[0].cache.remove(Self.slash)
    // No node is left that remembers the change.
    await fleet.nodes[0].cache.close()
    fleet.clock.advance(by: .milliseconds(5))
    fleet.server.loseTable(losesLog: true)
    #expect(fleet.server.variants(TestFleet.key("/")).count == 1)
    try await expectNew(fleet)
  }

  /// Expects that a node that comes now asks the origin for `/`.
  private func expectNew(_ fleet: TestFleet) async throws {
    var configuration = HTTPCache.Configuration(rules: CacheRules(mode: .shared), clock: fleet.clock)
    configuration.shared = LoopbackTier(fleet.server)
    let late = try HTTPCache.open(configuration)
    #expect(await late.join(within: .seconds(60)))
    let response = try await late.respond(to: TestFleet.request("/"), via: fleet.origin)
    #expect(String(decoding: try await response.body.collect().array, as: UTF8.self) == "2")
    await late.close()
  }

  @Test("While the server cannot be reached: local answers, the origin for the rest, and changes wait")
  func away() async throws {
    let fleet = try await TestFleet.filled(2, ["/", "/b"])
    let node = fleet.nodes[0]
    node.tier.isAway = true
    await node.wait { if case .disconnected = $0 { true } else { false } }
    #expect(node.cache.fleetStatus?.isConnected == false)
    #expect(try await node.get("/").outcome.isHit)
    try await node.cache.remove(Self.slash)
    #expect(node.cache.fleetStatus?.pendingChanges == 1)
    #expect(try await node.get("/").text == "3")
    // The other node knows nothing of it.
    #expect(try await fleet.nodes[1].get("/").text == "1")
    node.tier.isAway = false
    await fleet.advance { node.cache.fleetStatus?.isConnected == true }
    await fleet.server.waitForLog(1)
    await fleet.applied()
    #expect(try await fleet.nodes[1].get("/").text != "1")
    await fleet.advance { node.cache.fleetStatus?.pendingChanges == 0 }
  }

  @Test("More changes than can wait are one invalidation of everything")
  func outbox() async throws {
    let fleet = try await TestFleet.filled()
    let node = fleet.nodes[0]
    node.tier.isAway = true
    await node.wait { if case .disconnected = $0 { true } else { false } }
    for number in 0...1_024 { try await node.cache.remove(.target(TestFleet.target("/\(number)"))) }
    #expect(node.cache.fleetStatus?.pendingChanges == 1)
    node.tier.isAway = false
    await fleet.advance { fleet.server.log.count == 1 }
    #expect(fleet.server.log.first?.change?.selection == .all)
    #expect(fleet.server.log.first?.change?.kind == .invalidate)
  }

  @Test("A node that was absent for longer than 60 s takes all of its entries for invalidated")
  func absence() async throws {
    let fleet = try await TestFleet.filled()
    let node = fleet.nodes[1]
    node.tier.isAway = true
    await node.wait { if case .disconnected = $0 { true } else { false } }
    fleet.clock.advance(by: 61)
    node.tier.isAway = false
    await fleet.advance { node.cache.fleetStatus?.isConnected == true }
    #expect(node.count { $0 == .invalidatedAll(.absence) } == 1)
    #expect(!(try await node.get("/").outcome.isHit))
  }

  @Test("A cut log: a node that missed what was cut takes all of its entries for invalidated")
  func cut() async throws {
    let fleet = try await TestFleet.filled(logLimit: 4)
    let node = fleet.nodes[1]
    node.tier.isAway = true
    await node.wait { if case .disconnected = $0 { true } else { false } }
    try await fleet.nodes[0].cache.remove(Self.slash)
    for number in 0..<8 { try await fleet.nodes[0].cache.remove(.target(TestFleet.target("/\(number)"))) }
    node.tier.isAway = false
    await fleet.advance { node.cache.fleetStatus?.isConnected == true }
    #expect(node.count { $0 == .invalidatedAll(.logCut) } == 1)
    #expect(try await node.get("/").text == "2")
  }

  @Test("A server that does not answer costs three deadlines, then requests do not wait for it")
  func breaker() async throws {
    let fleet = await TestFleet(1)
    fleet.origin.answers { _, number in (200, [.cacheControl: "max-age=600"], "\(number)") }
    let node = fleet.nodes[0]
    // A follower that began to wait for changes before the delay stays connected.
    await fleet.clock.waitForSleepers()
    node.tier.delay = .seconds(60)
    for number in 0..<3 {
      let asking = Task { try await node.respond("/\(number)").body.collect() }
      // The look-up sleeps beside the follower and the publications of the earlier responses.
      await fleet.clock.waitForSleepers(number + 2)
      fleet.clock.advance(by: LoopbackTier.Deadline.find)
      _ = try await asking.value
      if number < 2 { await fleet.clock.waitForSleepers(number + 2) }
    }
    #expect(node.cache.fleetStatus?.isPaused == true)
    let finds = fleet.server.calls("find")
    _ = try await node.respond("/next").body.collect()
    #expect(fleet.server.calls("find") == finds)
  }

  @Test("A request that changes several targets waits for one deadline of a server that does not answer")
  func changes() async throws {
    let fleet = await TestFleet(1)
    fleet.origin.always(200, [.location: "/b", .contentLocation: "/c"], "")
    let node = fleet.nodes[0]
    // A follower that began to wait for changes before the delay stays connected.
    await fleet.clock.waitForSleepers()
    node.tier.delay = .seconds(60)
    let asking = Task { try await node.respond("/a", method: .post).body.collect() }
    await fleet.clock.waitForSleepers(2)
    fleet.clock.advance(by: LoopbackTier.Deadline.part)
    _ = try await asking.value
    #expect(node.cache.fleetStatus?.pendingChanges == 3)
  }

  @Test(
    "A server that refuses is absent for a request",
    arguments: [
      SharedTierError(.unavailable, "OOM command not allowed"), SharedTierError(.unavailable, "LOADING"),
      SharedTierError(.refused, "NOPERM"), SharedTierError(.protocol, "not a reply"),
    ])
  func refusal(_ error: SharedTierError) async throws {
    let fleet = await TestFleet()
    fleet.origin.always(200, [.cacheControl: "max-age=600"], "one")
    fleet.server.refuse(error)
    #expect(try await fleet.nodes[0].get("/").text == "one")
    #expect(try await fleet.nodes[0].get("/").outcome.isHit)
    #expect(fleet.nodes[0].cache.fleetStatus?.isPaused == false)
  }

  @Test("A body that the tier loses while it is read: the rest comes from the origin")
  func bodyVanishes() async throws {
    let origin = RangeOrigin(count: 1_200_000)
    let fleet = await TestFleet(via: origin)
    try await fleet.nodes[0].get("/")
    let response = try await fleet.nodes[1].respond("/")
    fleet.server.evictBodies()
    let bytes = try await response.body.collect()
    #expect(String(decoding: bytes.array, as: UTF8.self) == origin.text)
    #expect(origin.requests.count <= 2)
    if let rest = origin.requests.dropFirst().first {
      #expect(rest.headerFields[.range]?.hasPrefix("bytes=") == true)
      #expect(rest.headerFields[.ifRange] == "\"a\"")
    }
    #expect(try await fleet.nodes[1].get("/").outcome.isHit)
  }

  @Test(
    "A lost body without a strong validator, or of another representation, breaks off",
    arguments: [true, false])
  func bodyBreaksOff(_ hasValidator: Bool) async throws {
    let fields: HTTPFields =
      hasValidator ? [.cacheControl: "max-age=60", .eTag: "\"a\""] : [.cacheControl: "max-age=60"]
    let origin = RangeOrigin(count: 4_000_000, fields)
    let fleet = await TestFleet(via: origin)
    try await fleet.nodes[0].get("/")
    origin.change(
      to: RangeOrigin.letters(4_000_000, from: 65), [.cacheControl: "max-age=60", .eTag: "\"b\""])
    let response = try await fleet.nodes[1].respond("/")
    fleet.server.evictBodies()
    await #expect(throws: UpstreamError.self) { try await response.body.collect() }
    await fleet.nodes[1].settle()
    // A body that broke off never passes for a whole one.
    let again = try await fleet.nodes[1].get("/")
    #expect(again.text == origin.text)
  }

  @Test("A body that is gone before the head is a miss")
  func bodyGone() async throws {
    let origin = RangeOrigin(count: 300_000)
    let fleet = await TestFleet(via: origin)
    try await fleet.nodes[0].get("/")
    fleet.server.evictBodies()
    let answer = try await fleet.nodes[1].get("/")
    #expect(answer.text == origin.text)
    #expect(origin.requests.count == 2)
    guard case .forwarded = answer.outcome else {
      Issue.record("\(answer.outcome)")
      return
    }
  }

  @Test("Closing a cache closes its tier, and a request afterwards is a miss")
  func closes() async throws {
    let fleet = try await TestFleet.filled()
    await fleet.nodes[0].cache.close()
    #expect(fleet.nodes[0].tier.isClosed)
    #expect(try await fleet.nodes[0].get("/").text == "2")
  }
}
