import HTTPCacheTesting
import Testing

@testable import HTTPCaching

@Suite("A fleet: what fails while a node meets the log", .timeLimit(.minutes(10)))
struct FleetHandshakeTests {
  private func leave(_ node: TestFleet.Node, disconnections count: Int = 1) async {
    node.tier.isAway = true
    await node.wait(count: count) { if case .disconnected = $0 { true } else { false } }
  }

  @Test("A gap is not forgotten if the handshake fails after it was found")
  func gap() async throws {
    let fleet = try await TestFleet.filled(logLimit: 4)
    let node = fleet.nodes[0]
    await fleet.nodes[1].cache.close()
    try await node.cache.remove(.target(TestFleet.target("/x")))
    await fleet.server.waitUntilApplied(by: node.name)
    fleet.server.replicate()
    // A change above all that follow, which the server loses: the node adds it again.
    fleet.server.shiftClock(by: 3_600_000)
    try await node.cache.remove(.target(TestFleet.target("/y")))
    await fleet.server.waitUntilApplied(by: node.name)
    await leave(node)
    fleet.server.shiftClock(by: -3_600_000)
    fleet.server.failOver()
    let program = LoopbackTier(fleet.server)
    for (number, path) in ["/", "/1", "/2", "/3", "/4", "/5"].enumerated() {
      _ = try await program.add(
        SharedChange(uid: "\(number)", kind: .remove, selection: .target(TestFleet.target(path))), at: nil)
    }
    node.tier.onCall = { name in if name == "add" { node.tier.isAway = true } }
    node.tier.isAway = false
    await fleet.advance { node.tier.isAway }
    // The node pauses after the handshake that failed.
    await fleet.clock.waitForSleepers()
    node.tier.onCall = nil
    node.tier.isAway = false
    await fleet.advance { node.cache.fleetStatus?.isConnected == true }
    #expect(node.count { if case .invalidatedAll = $0 { true } else { false } } >= 1)
    #expect(try await node.get("/").text != "1")
  }

  @Test("A wipe that waited is added once, also if the tier fails to remove its responses")
  func wipe() async throws {
    let fleet = try await TestFleet.filled()
    let node = fleet.nodes[0]
    await leave(node)
    _ = try await node.cache.wipe(partition: "account")
    node.tier.onCall = { name in if name == "wipe" { node.tier.isAway = true } }
    node.tier.isAway = false
    await fleet.advance { fleet.server.calls("wipe") == 1 }
    await node.wait(count: 2) { if case .disconnected = $0 { true } else { false } }
    await node.settle()
    #expect(node.cache.fleetStatus?.pendingChanges == 0)
    #expect(fleet.server.log.count == 1)
    #expect(node.count { if case .failed(operation: "wipe", _) = $0 { true } else { false } } == 1)
  }

  @Test("While the tier removes the responses of a wipe that waited, changes of other nodes are applied")
  func slowWipe() async throws {
    let fleet = try await TestFleet.filled()
    let (node, gate) = (fleet.nodes[0], Gate())
    await leave(node)
    _ = try await node.cache.wipe(partition: "account")
    node.tier.onCall = { name in if name == "wipe" { try? await gate.pass() } }
    node.tier.isAway = false
    await fleet.advance { gate.arrivals == 1 }
    try await fleet.nodes[1].cache.remove(.target(TestFleet.target("/")))
    await fleet.server.waitUntilApplied(by: node.name)
    #expect(try await node.cache.entries(.all).entries.isEmpty)
    #expect(fleet.server.calls("wipe") == 1)
    gate.open()
    await node.settle()
    #expect(node.count { if case .failed = $0 { true } else { false } } == 0)
  }

  @Test("While requests leave the tier alone, a change reaches the other nodes at once")
  func pastBreaker() async throws {
    let fleet = try await TestFleet.filled()
    let node = fleet.nodes[0]
    let breaker = try #require(node.cache.engine.fleet).breaker
    for _ in 0..<3 { breaker.failed(.timeout, uptime: fleet.clock.uptime) }
    #expect(breaker.isOpen(uptime: fleet.clock.uptime))
    try await node.cache.remove(.target(TestFleet.target("/")))
    #expect(node.cache.fleetStatus?.pendingChanges == 0)
    await fleet.server.waitUntilApplied(by: fleet.nodes[1].name)
    #expect(try await fleet.nodes[1].cache.entries(.all).entries.isEmpty)
  }

  @Test("A change whose task is cancelled reaches the other nodes at once")
  func cancelledChange() async throws {
    let fleet = try await TestFleet.filled()
    let (node, gate) = (fleet.nodes[0], Gate())
    node.tier.onCall = { name in if name == "add" { try? await gate.pass() } }
    // A call with a delay ends when its task is cancelled.
    node.tier.delay = .milliseconds(10)
    let change = Task { try await node.cache.remove(.target(TestFleet.target("/"))) }
    await gate.waitForArrivals(1)
    change.cancel()
    gate.open()
    _ = try await fleet.advancing(while: change)
    #expect(node.cache.fleetStatus?.pendingChanges == 0)
    await fleet.server.waitUntilApplied(by: fleet.nodes[1].name)
    #expect(try await fleet.nodes[1].cache.entries(.all).entries.isEmpty)
  }

  @Test("A task that waited for a connection in vain leaves nothing behind")
  func waiters() async throws {
    let fleet = try await TestFleet.filled()
    let node = fleet.nodes[0]
    await leave(node)
    let log = try #require(node.cache.engine.fleet).log
    for _ in 0..<10 {
      let joining = Task { await node.cache.join(within: .seconds(3_600)) }
      joining.cancel()
      #expect(await joining.value == false)
    }
    #expect(log.facts.waiting.isEmpty)
  }
}
