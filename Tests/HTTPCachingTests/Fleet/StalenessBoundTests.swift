import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A fleet: the bound of staleness", .timeLimit(.minutes(10)))
struct StalenessBoundTests {
  @Test("With a bound of staleness, a node without the tier invalidates all of its entries once in that time")
  func stalenessBound() async throws {
    let fleet = await TestFleet(1) { configuration, _ in configuration.fleet.stalenessBound = .seconds(10)
    }
    fleet.origin.answers { _, number in (200, [.cacheControl: "max-age=600"], "\(number)") }
    let node = fleet.nodes[0]
    try await node.get("/")
    node.tier.isAway = true
    await node.wait { if case .disconnected = $0 { true } else { false } }
    await fleet.advance(by: .seconds(1)) { node.count { $0 == .invalidatedAll(.stalenessBound) } >= 1 }
    await node.events.wait { if case .selectionInvalidated(.all, count: _) = $0 { true } else { false } }
    #expect(try await node.get("/").text == "2")
  }

  @Test("A bound of staleness that is shorter than the pauses between attempts to connect is kept")
  func shortStalenessBound() async throws {
    let bound = Duration.milliseconds(300)
    let fleet = await TestFleet(1) { configuration, _ in configuration.fleet.stalenessBound = bound }
    let node = fleet.nodes[0]
    node.tier.isAway = true
    for count in 1...5 {
      // The follower pauses, or its pause is over, and the bound runs beside it.
      await fleet.clock.waitForSleepers(2)
      fleet.clock.advance(by: bound)
      await node.wait(count: count) { $0 == .invalidatedAll(.stalenessBound) }
    }
  }

  @Test(
    "A node that was paused for longer than twice the bound uses nothing that it has until it has read the log"
  )
  func paused() async throws {
    let fleet = await TestFleet(1) { configuration, _ in configuration.fleet.stalenessBound = .seconds(10) }
    fleet.origin.answers { _, number in (200, [.cacheControl: "max-age=600"], "\(number)") }
    let node = fleet.nodes[0]
    let gate = Gate()
    try await node.get("/")
    #expect(try await node.get("/").outcome.isHit)
    // The answer that was under way before the pause tells nothing of it.
    node.tier.onCall = { name in if name == "changes" { try? await gate.pass() } }
    await fleet.advance { gate.arrivals == 1 }
    fleet.clock.advance(by: .seconds(21))
    let explanation = try node.cache.explain(TestFleet.request("/"))
    #expect(explanation.steps.first?.question == "May stored responses be used?")
    #expect(explanation.steps.first?.answer.hasPrefix("no, 1 are left out") == true)
    // The tier tells what is outdated, and answers.
    #expect(try await !node.get("/").outcome.isHit)
    #expect(node.count { $0 == .invalidatedAll(.stalenessBound) } == 0)
    gate.open()
    node.tier.onCall = nil
    var isHit = false
    for _ in 0..<100 where !isHit {
      // The node asks for the next changes once it has noted the answer to the last call.
      let calls = fleet.server.calls("changes")
      await fleet.advance(by: .milliseconds(500)) { fleet.server.calls("changes") > calls }
      isHit = try await node.get("/").outcome.isHit
    }
    #expect(isHit)
  }

  @Test("A bound of staleness passes while a node meets the log, too")
  func stalenessBoundInHandshake() async throws {
    let fleet = await TestFleet(1) { configuration, _ in configuration.fleet.stalenessBound = .seconds(10) }
    fleet.origin.answers { _, number in (200, [.cacheControl: "max-age=600"], "\(number)") }
    let (node, gate) = (fleet.nodes[0], Gate())
    try await node.get("/")
    node.tier.onCall = { name in if name == "state" { try? await gate.pass() } }
    node.tier.isAway = true
    await fleet.advance { gate.arrivals == 1 }
    await fleet.advance(by: .seconds(1)) {
      node.count { $0 == .invalidatedAll(.stalenessBound) } >= 1 || fleet.clock.uptime > .seconds(60)
    }
    await node.events.wait { if case .selectionInvalidated(.all, count: _) = $0 { true } else { false } }
    #expect(gate.arrivals == 1)
    #expect(try await node.get("/").text == "2")
    gate.open()
  }
}
