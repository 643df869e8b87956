import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A fleet: one node asks the origin for all", .timeLimit(.minutes(10)))
struct SharedLockTests {
  @Test("Misses on all nodes at once are one request to the origin")
  func collapsed() async throws {
    let fleet = await TestFleet(3)
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    fleet.origin.hold()
    let first = Task { try await fleet.nodes[0].get("/") }
    await fleet.origin.arrived(1)
    let others = fleet.nodes[1...].map { node in Task { try await node.get("/") } }
    await fleet.server.waitForCalls("lock", 3)
    fleet.origin.release()
    #expect(try await first.value.text == "one")
    for other in others {
      let answer = try await fleet.advancing(while: other)
      #expect(answer.text == "one")
      #expect(answer.outcome.isShared)
    }
    #expect(fleet.origin.requests.count == 1)
    #expect(!fleet.server.isLocked(TestFleet.key("/")))
  }

  @Test("A response that another node publishes between the look-up and the lock answers")
  func publishedBeforeLock() async throws {
    let fleet = await TestFleet()
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    let other = fleet.nodes[0]
    let isFirst = WatchedState(true)
    fleet.nodes[1].tier.onCall = { name in
      let publishes = isFirst.withLock { isFirst in
        guard name == "lock", isFirst else { return false }
        isFirst = false
        return true
      }
      if publishes { _ = try? await other.get("/") }
    }
    #expect(try await fleet.nodes[1].get("/").outcome.isShared)
    #expect(fleet.origin.requests.count == 1)
    #expect(!fleet.server.isLocked(TestFleet.key("/")))
  }

  @Test("The lock of a leader that died holds for 3 s")
  func deadLeader() async throws {
    let fleet = await TestFleet()
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    let start = fleet.clock.uptime
    _ = try await fleet.nodes[0].tier.lock(
      TestFleet.key("/"), token: "dead", ticket: SharedPosition(time: .max, number: 0),
      duration: .seconds(3),
      overtaking: nil)
    let answer = try await fleet.advancing(
      by: .milliseconds(50), while: Task { try await fleet.nodes[1].get("/") })
    #expect(answer.text == "one")
    #expect(fleet.clock.uptime - start >= .seconds(3))
    #expect(fleet.origin.requests.count == 1)
  }

  @Test("A lock that the tier took, though its answer came too late, is freed")
  func lateLock() async throws {
    let fleet = await TestFleet()
    fleet.nodes[0].tier.losesLockAnswers = true
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    #expect(try await fleet.nodes[0].get("/").text == "one")
    #expect(fleet.server.calls("lock") == 1)
    #expect(!fleet.server.isLocked(TestFleet.key("/")))
  }

  @Test("A leader that waits for a slow origin renews its lock")
  func slowOrigin() async throws {
    let fleet = await TestFleet()
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    fleet.origin.hold()
    let first = Task { try await fleet.nodes[0].get("/") }
    await fleet.origin.arrived(1)
    for number in 1...8 {
      // Both followers and the renewal: a renewal that begins late would find its lock expired.
      await fleet.clock.waitForSleepers(3)
      fleet.clock.advance(by: 1)
      await fleet.server.waitForCalls("renew", number)
    }
    #expect(fleet.server.isLocked(TestFleet.key("/")))
    let second = Task { try await fleet.nodes[1].get("/") }
    await fleet.server.waitForCalls("lock", 2)
    fleet.origin.release()
    _ = try await first.value
    #expect(try await fleet.advancing(while: second).text == "one")
    #expect(fleet.origin.requests.count == 1)
  }

  @Test("A request waits for another node no longer than its own timeout")
  func timeout() async throws {
    let fleet = await TestFleet()
    _ = try await fleet.nodes[0].tier.lock(
      TestFleet.key("/"), token: "other", ticket: SharedPosition(time: .max, number: 0),
      duration: .seconds(3_600), overtaking: nil)
    var options = RequestOptions()
    options.timeout = .seconds(1)
    let waiting = Task { [options] in try await fleet.nodes[1].get("/", options: options) }
    let error = await #expect(throws: UpstreamError.self) { try await fleet.advancing(while: waiting) }
    #expect(error?.kind == .timeout)
    #expect(fleet.origin.requests.isEmpty)
  }

  @Test("A lock whose fetch a change has overtaken is taken over")
  func overtaken() async throws {
    let fleet = await TestFleet()
    fleet.origin.answers { _, number in (200, [.cacheControl: "max-age=60"], "\(number)") }
    fleet.origin.hold()
    let first = Task { try await fleet.nodes[0].get("/") }
    await fleet.origin.arrived(1)
    try await fleet.nodes[1].cache.invalidate(.target(TestFleet.target("/")))
    await fleet.applied()
    let second = Task { try await fleet.nodes[1].get("/") }
    await fleet.origin.arrived(2)
    fleet.origin.release()
    _ = try await (first.value, second.value)
    // The other node's response is fresh; the first one's was overtaken.
    let finds = fleet.origin.requests.count
    #expect(try await fleet.nodes[1].get("/").outcome.isHit)
    #expect(fleet.origin.requests.count == finds)
    let published = fleet.server.variants(TestFleet.key("/"))
    #expect(published.count == 1)
  }

  @Test("A response that cannot be shared: others do not wait, and no node asks the tier again for 60 s")
  func unshareable() async throws {
    let fleet = await TestFleet()
    fleet.origin.always(200, [.cacheControl: "no-store"], "one")
    try await fleet.nodes[0].get("/")
    #expect(fleet.server.isLocked(TestFleet.key("/")))
    try await fleet.nodes[1].get("/")
    let (finds, locks) = (fleet.server.calls("find"), fleet.server.calls("lock"))
    // The second node was told not to wait.
    for node in fleet.nodes { for _ in 0..<5 { try await node.get("/") } }
    #expect(fleet.server.calls("find") == finds)
    #expect(fleet.server.calls("lock") == locks)
    #expect(fleet.origin.requests.count == 12)
    fleet.clock.advance(by: 61)
    try await fleet.nodes[0].get("/")
    #expect(fleet.server.calls("lock") == locks + 1)
  }

  @Test("A body that is too large is not shared, whether its length is announced or not")
  func tooLarge() async throws {
    let fleet = await TestFleet(largestBody: 100_000)
    fleet.origin.streams([.cacheControl: "max-age=60"]) { request in
      TestBody(
        piece: [UInt8](repeating: 1, count: 50_000), count: 3,
        announced: request.path == "/announced" ? 150_000 : nil)
    }
    for path in ["/announced", "/unknown"] {
      try await fleet.nodes[0].get(path)
      #expect(fleet.server.variants(TestFleet.key(path)).isEmpty)
      #expect(try await fleet.nodes[0].get(path).outcome.isHit)
    }
  }

  @Test("A body that takes longer than 1 s after its head: others go alone, and it is published at its end")
  func slowBody() async throws {
    let gate = Gate()
    let fleet = await TestFleet(3)
    fleet.origin.streams([.cacheControl: "max-age=60"]) { _ in
      TestBody(piece: [1, 2, 3], count: 2, gate: (1, gate))
    }
    let first = try await fleet.nodes[0].respond("/")
    let reading = Task { try await first.body.collect() }
    await fleet.advance { fleet.server.calls("unlock") > 0 }
    // Until then, the second node would wait for the first one.
    await fleet.server.waitForRefusal(TestFleet.key("/"))
    let second = try await fleet.nodes[1].respond("/")
    await fleet.origin.arrived(2)
    gate.open()
    _ = try await (reading.value, second.body.collect())
    await fleet.nodes[0].settle()
    #expect(fleet.server.variants(TestFleet.key("/")).count == 1)
    #expect(fleet.server.isLocked(TestFleet.key("/")))
  }

  @Test("A leader that fails frees its lock")
  func failure() async throws {
    let fleet = await TestFleet()
    fleet.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await fleet.nodes[0].get("/") }
    await fleet.nodes[0].settle()
    #expect(!fleet.server.isLocked(TestFleet.key("/")))
  }
}
