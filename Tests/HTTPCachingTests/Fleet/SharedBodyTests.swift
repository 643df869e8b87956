import HTTPCacheTesting
import Testing

@testable import HTTPCaching

@Suite("A fleet: bodies in parts", .timeLimit(.minutes(10)))
struct SharedBodyTests {
  @Test("A body is read although the breaker is open, and a part that failed is asked for once more")
  func failures() async throws {
    let origin = RangeOrigin(count: 4_000_000)
    let fleet = await TestFleet(via: origin)
    try await fleet.nodes[0].get("/")
    let node = fleet.nodes[1]
    let response = try await node.respond("/")
    let shared = try #require(node.cache.engine.fleet)
    shared.breaker.failed(.unreachable, uptime: fleet.clock.uptime)
    #expect(node.cache.fleetStatus?.isPaused == true)
    // The first part that is asked for now fails; the others are asked for after that.
    let parts = Counter()
    node.tier.onCall = { name in
      guard name == "parts" else { return }
      if parts.increment() == 1 {
        node.tier.isAway = true
      } else {
        await node.wait { if case .failed(operation: "read a body", _) = $0 { true } else { false } }
        node.tier.isAway = false
      }
    }
    let bytes = try await response.body.collect()
    #expect(String(decoding: bytes.array, as: UTF8.self) == origin.text)
    #expect(origin.requests.count == 1)
  }

  @Test("A first part of a body that does not come costs one attempt of 500 ms, then the origin is asked")
  func firstPart() async throws {
    let origin = RangeOrigin(count: 300_000)
    let fleet = await TestFleet(via: origin)
    try await fleet.nodes[0].get("/")
    let (node, gate) = (fleet.nodes[1], Gate())
    node.tier.onCall = { name in if name == "parts" { try? await gate.pass() } }
    let (start, locks) = (fleet.clock.uptime, fleet.server.calls("lock"))
    let asking = Task { try await node.respond("/").body.collect() }
    let bytes = try await fleet.advancing(while: asking)
    #expect(String(decoding: bytes.array, as: UTF8.self) == origin.text)
    #expect(fleet.clock.uptime - start >= .milliseconds(500))
    #expect(gate.arrivals == 1)
    #expect(fleet.server.calls("lock") == locks)
    #expect(origin.requests.count == 2)
  }

  @Test("A body that was removed does not come back with another response of the same validator and length")
  func removedBody() async throws {
    let origin = RangeOrigin(count: 300_000)
    let fleet = await TestFleet(via: origin)
    for node in fleet.nodes { try await node.get("/") }
    try await fleet.nodes[0].cache.remove(.target(TestFleet.target("/")))
    await fleet.applied()
    origin.change(to: RangeOrigin.letters(300_000, from: 65), [.cacheControl: "max-age=60", .eTag: "\"a\""])
    for node in fleet.nodes { #expect(try await node.get("/").text == origin.text) }
    #expect(origin.requests.count == 2)
  }

  @Test("A new response is published with its own body, also if an old one had its validator and length")
  func reloadedBody() async throws {
    let origin = RangeOrigin(count: 300_000)
    let fleet = await TestFleet(via: origin)
    try await fleet.nodes[0].get("/")
    origin.change(to: RangeOrigin.letters(300_000, from: 65), [.cacheControl: "max-age=60", .eTag: "\"a\""])
    fleet.clock.advance(by: 61)
    // The other node has nothing to validate: it gets a 200.
    #expect(try await fleet.nodes[1].get("/").text == origin.text)
    try await fleet.nodes[1].cache.remove(.storedBefore(Timestamp(seconds: .max)))
    #expect(try await fleet.nodes[1].get("/").text == origin.text)
    #expect(origin.requests.count == 2)
  }

  @Test("After a 304 the tier keeps the body that it has")
  func confirmedBody() async throws {
    let origin = RangeOrigin(count: 300_000)
    let fleet = await TestFleet(via: origin)
    try await fleet.nodes[0].get("/")
    let writes = fleet.server.calls("write")
    fleet.clock.advance(by: 61)
    try await fleet.nodes[0].get("/")
    #expect(fleet.server.calls("write") == writes)
    #expect(try await fleet.nodes[1].get("/").text == origin.text)
    #expect(origin.requests.count == 2)
  }

  @Test("A publication on its way ends at a wipe: the tier gets nothing back", arguments: [200_000, 600_000])
  func wipedMeanwhile(_ length: Int) async throws {
    let origin = RangeOrigin(count: length)
    let fleet = await TestFleet(via: origin)
    let (node, gate) = (fleet.nodes[0], Gate())
    node.tier.onCall = { name in if name == "write" { try? await gate.pass() } }
    let response = try await node.respond("/")
    _ = try await response.body.collect()
    await gate.waitForArrivals(1)
    try await node.cache.wipe(partition: "")
    gate.open()
    await node.settle()
    #expect(fleet.server.variants(TestFleet.key("/")).isEmpty)
    #expect(!fleet.server.isLocked(TestFleet.key("/")))
    #expect(fleet.server.calls("publish") == 0)
  }
}
