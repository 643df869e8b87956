import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A fleet: answers that another node fetched", .timeLimit(.minutes(10)))
struct SharedAnswerTests {
  @Test("§4.2.3 A response of another node answers with its age, once for each node")
  func age() async throws {
    let fleet = try await TestFleet.storing([.cacheControl: "max-age=60", .eTag: "\"a\""], "one")
    fleet.clock.advance(by: 7)
    let answer = try await fleet.nodes[1].get("/")
    #expect(answer.text == "one")
    #expect(answer.head.headerFields[.age] == "7")
    #expect(answer.outcome == .shared(.miss(.absent), age: .seconds(7), lifetime: .seconds(60)))
    #expect(fleet.origin.requests.count == 1)
    // It is stored here now, and ages on.
    fleet.clock.advance(by: 3)
    #expect(
      try await fleet.nodes[1].get("/").outcome
        == .hit(age: .seconds(10), lifetime: .seconds(60), allowance: nil))
    // It is not published again.
    #expect(fleet.server.calls("publish") == 1)
    let counts = try await fleet.nodes[1].cache.counts()
    #expect(counts.sharedHits == 1)
    #expect(counts.sharedBytes == 3)
    #expect(counts.hits == 1)
    #expect(counts.misses == 0)
    #expect(counts.originBytes == 0)
  }

  @Test("§4.2.3 Parts of a second count as a whole one")
  func roundedUp() async throws {
    let fleet = try await TestFleet.storing([.cacheControl: "max-age=60"], "one")
    fleet.clock.advance(by: .milliseconds(1))
    #expect(try await fleet.nodes[1].get("/").head.headerFields[.age] == "1")
  }

  @Test("§4.2.3 The age by this node's own clock counts if it is more")
  func apparentAge() async throws {
    let fleet = await TestFleet()
    let date = Timestamp(seconds: fleet.clock.now.seconds - 5).httpDate
    fleet.origin.always(200, [.cacheControl: "max-age=60", .date: date], "one")
    try await fleet.nodes[0].get("/")
    // The clock of the server stands still, that of this node is 20 s ahead.
    fleet.clock.jump(to: Timestamp(seconds: fleet.clock.now.seconds + 20))
    #expect(try await fleet.nodes[1].get("/").head.headerFields[.age] == "25")
  }

  @Test("A server whose clock jumped back makes nothing younger than it was")
  func serverClock() async throws {
    let fleet = try await TestFleet.storing([.cacheControl: "max-age=60", .age: "30"], "one")
    fleet.server.shiftClock(by: -3_600_000)
    #expect(try await fleet.nodes[1].get("/").head.headerFields[.age] == "30")
    fleet.server.shiftClock(by: 7_200_000)
    let fresh = try await fleet.nodes[1].get("/x")
    #expect(fresh.outcome.age == nil)
  }

  @Test("RFC 9211 §2 The tier is a member of Cache-Status before this cache")
  func cacheStatus() async throws {
    let fleet = await TestFleet { configuration, _ in configuration.cacheStatusName = "c" }
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    try await fleet.nodes[0].get("/")
    fleet.clock.advance(by: 10)
    let answer = try await fleet.nodes[1].get("/")
    #expect(
      answer.head.headerFields[fields: .cacheStatus].map(\.value)
        == ["fleet; hit; ttl=50", "c; fwd=uri-miss; ttl=50"])
    #expect(try await fleet.nodes[1].get("/").head.headerFields[.cacheStatus] == "c; hit; ttl=50")
  }

  @Test("A request that waits for one of the same node is answered by the tier, too, and says so")
  func follower() async throws {
    let fleet = try await TestFleet.storing([.cacheControl: "max-age=60"], "one")
    fleet.clock.advance(by: 7)
    let (gate, node) = (Gate(), fleet.nodes[1])
    node.tier.onCall = { name in if name == "find" { try? await gate.pass() } }
    let leader = Task { try await node.get("/") }
    await gate.waitForArrivals(1)
    let follower = Task { try await node.get("/") }
    try await until { node.cache.unfinishedWork.waiters == 1 }
    gate.open()
    let expected = CacheOutcome.shared(.miss(.absent), age: .seconds(7), lifetime: .seconds(60))
    #expect(try await leader.value.outcome == expected)
    let answer = try await follower.value
    #expect(answer.text == "one")
    #expect(answer.outcome == expected)
    let outcomes = node.events.events.compactMap { event -> CacheOutcome? in
      if case .answered(_, let outcome) = event { outcome } else { nil }
    }
    #expect(outcomes == [expected, expected])
    let counts = try await node.cache.counts()
    #expect(counts.sharedHits == 2)
    #expect(counts.misses == 0)
  }

  @Test("A range of a response that another node has: 206, and nothing of the origin")
  func range() async throws {
    let origin = RangeOrigin(count: 600_000)
    let fleet = await TestFleet(via: origin)
    try await fleet.nodes[0].get("/")
    let answer = try await fleet.nodes[1].get("/", [.range: "bytes=262000-262200"])
    #expect(answer.status == 206)
    #expect(answer.text.utf8.count == 201)
    #expect(answer.text == String(decoding: RangeOrigin.letters(600_000)[262_000...262_200], as: UTF8.self))
    #expect(answer.head.headerFields[.contentRange] == "bytes 262000-262200/600000")
    #expect(origin.requests.count == 1)
  }

  @Test("A range from the tier has no trailers of the whole (RFC 9530 §2)", arguments: [2, 150_000])
  func trailers(_ pieceLength: Int) async throws {
    let fleet = await TestFleet()
    fleet.origin.streams([.cacheControl: "max-age=60", .eTag: "\"a\""]) { _ in
      TestBody(piece: [UInt8](repeating: 65, count: pieceLength), count: 2, trailers: [.xN: "42"])
    }
    try await fleet.nodes[0].get("/")
    let answer = try await fleet.nodes[1].get("/", [.range: "bytes=1-2"])
    #expect(answer.status == 206 && answer.text == "AA")
    #expect(answer.trailers.isEmpty)
    #expect(try await fleet.nodes[1].get("/").trailers == [.xN: "42"])
    #expect(fleet.origin.requests.count == 1)
  }

  @Test("A stored part is completed from the tier")
  func completesPart() async throws {
    let origin = RangeOrigin(count: 300_000)
    let fleet = await TestFleet(via: origin)
    fleet.nodes[1].tier.isAway = true
    await fleet.nodes[1].wait { if case .disconnected = $0 { true } else { false } }
    try await fleet.nodes[1].get("/", [.range: "bytes=0-99999"])
    try await fleet.nodes[0].get("/")
    fleet.nodes[1].tier.isAway = false
    await fleet.advance { fleet.nodes[1].cache.fleetStatus?.isConnected == true }
    #expect(try await fleet.nodes[1].get("/").text == origin.text)
    #expect(origin.requests.count == 2)
  }

  @Test("§4.3.4 Two nodes with a stale response: one asks the origin, the other is confirmed by the tier")
  func confirmed() async throws {
    let fleet = await TestFleet()
    fleet.origin.answers { request, _ in
      let fields: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"a\""]
      return request.headerFields[.ifNoneMatch] == nil ? (200, fields, "one") : (304, fields, "")
    }
    for node in fleet.nodes { try await node.get("/") }
    fleet.clock.advance(by: 20)
    #expect(try await fleet.nodes[0].get("/").text == "one")
    fleet.clock.advance(by: 2)
    let answer = try await fleet.nodes[1].get("/")
    #expect(answer.text == "one")
    #expect(answer.head.headerFields[.age] == "2")
    guard case .shared(.validation(.stale), age: .seconds(2), lifetime: .seconds(10)) = answer.outcome else {
      Issue.record("\(answer.outcome)")
      return
    }
    #expect(fleet.origin.requests.count == 2)
    #expect(try await fleet.nodes[1].get("/").outcome.isHit)
  }

  @Test("A 304 publishes the new record with the body that the tier has")
  func confirmsLargeBody() async throws {
    let origin = RangeOrigin(count: 300_000, [.cacheControl: "max-age=10", .eTag: "\"a\""])
    let fleet = await TestFleet(3, via: origin)
    try await fleet.nodes[0].get("/")
    fleet.clock.advance(by: 20)
    let writes = fleet.server.calls("write")
    try await fleet.nodes[0].get("/")
    #expect(fleet.server.calls("write") == writes)
    #expect(try await fleet.nodes[1].get("/").text == origin.text)
    // The tier has lost the body: the record brings it again.
    fleet.clock.advance(by: 20)
    fleet.server.evictBodies()
    try await fleet.nodes[0].get("/")
    #expect(fleet.server.calls("write") > writes)
    #expect(try await fleet.nodes[2].get("/").text == origin.text)
    #expect(origin.requests.count == 3)
  }

  @Test("RFC 5861 §3 Background validation may be answered by the tier")
  func background() async throws {
    let fleet = await TestFleet()
    fleet.origin.answers { _, number in
      (200, [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"\(number)\""], "\(number)")
    }
    for node in fleet.nodes { try await node.get("/") }
    fleet.clock.advance(by: 20)
    #expect(try await fleet.nodes[0].get("/").text == "1")
    #expect(try await fleet.nodes[0].get("/").text == "2")
    #expect(try await fleet.nodes[1].get("/").text == "1")
    #expect(try await fleet.nodes[1].get("/").text == "2")
    #expect(fleet.origin.requests.count == 2)
  }

  @Test("§4 A response of the tier that is older than what this node had is not used")
  func older() async throws {
    let fleet = await TestFleet()
    let start = fleet.clock.now.seconds
    fleet.origin.answers { _, number in
      let date = Timestamp(seconds: start + Int64(number) * 10).httpDate
      return (200, [.cacheControl: "max-age=100", .eTag: "\"\(number)\"", .date: date], "\(number)")
    }
    fleet.clock.advance(by: 10)
    try await fleet.nodes[0].get("/")
    fleet.nodes[1].tier.isAway = true
    await fleet.nodes[1].wait { if case .disconnected = $0 { true } else { false } }
    fleet.clock.advance(by: 10)
    // The publication of the second response is lost.
    #expect(try await fleet.nodes[1].get("/").text == "2")
    try await fleet.nodes[1].cache.invalidate(.storedBefore(Timestamp(seconds: .max)))
    fleet.nodes[1].tier.isAway = false
    await fleet.advance { fleet.nodes[1].cache.fleetStatus?.isConnected == true }
    #expect(try await fleet.nodes[1].get("/").text == "3")
  }

  @Test("§4.1 A variant answers the requests that it was selected for, and no others")
  func vary() async throws {
    let fleet = await TestFleet()
    fleet.origin.answers { request, _ in
      (
        200, [.cacheControl: "max-age=60", .vary: "Accept-Language"],
        request.headerFields[.acceptLanguage] ?? ""
      )
    }
    try await fleet.nodes[0].get("/", [.acceptLanguage: "de"])
    try await fleet.nodes[0].get("/", [.acceptLanguage: "en"])
    #expect(try await fleet.nodes[1].get("/", [.acceptLanguage: "de"]).text == "de")
    #expect(try await fleet.nodes[1].get("/", [.acceptLanguage: "en"]).text == "en")
    #expect(fleet.origin.requests.count == 2)
    #expect(try await fleet.nodes[1].get("/", [.acceptLanguage: "fr"]).text == "fr")
    #expect(fleet.origin.requests.count == 3)
  }

  @Test(
    "Requests that want the origin's answer do not ask the tier",
    arguments: [CachePolicy.reload, .reloadEverywhere, .revalidate, .bypass, .networkElseCache()])
  func policies(_ policy: CachePolicy) async throws {
    let fleet = try await TestFleet.storing([.cacheControl: "max-age=60"], "one")
    let finds = fleet.server.calls("find")
    try await fleet.nodes[1].get("/", policy: policy)
    #expect(fleet.server.calls("find") == finds)
    #expect(fleet.origin.requests.count == 2)
  }

  @Test(
    "Requests that want the origin's answer, or none of it, do not ask the tier",
    arguments: ["no-cache", "max-age=0", "no-store", "only-if-cached"])
  func directives(_ directive: String) async throws {
    let fleet = try await TestFleet.storing([.cacheControl: "max-age=60"], "one")
    let finds = fleet.server.calls("find")
    try await fleet.nodes[1].get("/", [.cacheControl: directive])
    #expect(fleet.server.calls("find") == finds)
  }

  @Test("An offline node does not ask the tier")
  func offline() async throws {
    let fleet = try await TestFleet.storing([.cacheControl: "max-age=60"], "one")
    fleet.nodes[1].cache.isOffline = true
    let finds = fleet.server.calls("find")
    await #expect(throws: UpstreamError.self) { try await fleet.nodes[1].get("/") }
    #expect(fleet.server.calls("find") == finds)
  }
}
