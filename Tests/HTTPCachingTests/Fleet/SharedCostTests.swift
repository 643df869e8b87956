import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("A fleet: how many round trips a request costs", .timeLimit(.minutes(10)))
struct SharedCostTests {
  /// The calls of the tier that requests and changes make, without those that follow the log.
  private func calls(_ fleet: TestFleet) -> Int {
    ["find", "parts", "write", "publish", "lock", "renew", "unlock", "add", "wipe", "nodes"]
      .reduce(0) { $0 + fleet.server.calls($1) }
  }

  @Test("A hit costs none, in memory and on the slow path")
  func hits() async throws {
    let fleet = await TestFleet()
    fleet.origin.always(200, [.cacheControl: "max-age=60", .eTag: "\"a\""], "one")
    for node in fleet.nodes { try await node.get("/") }
    let before = calls(fleet)
    for node in fleet.nodes {
      #expect(node.cache.peek(TestFleet.request("/")) != nil)
      #expect(try await node.get("/").outcome.isHit)
      #expect(try await node.get("/", method: .head).outcome.isHit)
      #expect(try await node.get("/", [.range: "bytes=0-0"]).status == 206)
      #expect(try await node.get("/", [.ifNoneMatch: "\"a\""]).status == 304)
    }
    #expect(calls(fleet) == before)
    #expect(fleet.origin.requests.count == 1)
  }

  @Test("A miss that another node can answer costs one")
  func miss() async throws {
    let fleet = try await TestFleet.storing([.cacheControl: "max-age=60"], "one")
    let before = calls(fleet)
    try await fleet.nodes[1].get("/")
    #expect(calls(fleet) == before + 1)
  }

  /// A response that cannot be shared.
  struct Unshareable: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var status = 200
    var response: HTTPFields = [.cacheControl: "max-age=60"]
    var request: HTTPFields = [:]
    var body = "one"

    static let all: [Unshareable] = [
      Unshareable(testDescription: "no-store", response: [.cacheControl: "no-store"]),
      Unshareable(testDescription: "private", response: [.cacheControl: "private, max-age=60"]),
      Unshareable(testDescription: "Vary: *", response: [.cacheControl: "max-age=60", .vary: "*"]),
      Unshareable(
        testDescription: "Set-Cookie", response: [.cacheControl: "max-age=60", .setCookie: "a=1"]),
      Unshareable(testDescription: "no lifetime and no validator", response: [.cacheControl: "max-age=0"]),
      Unshareable(
        testDescription: "to be validated each time", response: [.cacheControl: "max-age=60, no-cache"]),
      Unshareable(
        testDescription: "stale at once", response: [.cacheControl: "max-age=0", .eTag: "\"a\""]),
      Unshareable(testDescription: "a redirect for now", status: 302, response: [.location: "/x"]),
      Unshareable(testDescription: "Authorization", request: [.authorization: "Basic a"]),
      Unshareable(
        testDescription: "a range of what is not stored", response: [.cacheControl: "no-store"],
        request: [.range: "bytes=0-1"]),
      Unshareable(
        testDescription: "a condition on what is not stored", response: [.cacheControl: "no-store"],
        request: [.ifNoneMatch: "\"x\""]),
    ]

    /// The head tells nothing of it.
    static let tooLarge = Unshareable(
      testDescription: "too large for the node's own store", body: String(repeating: "x", count: 20_000))

    static let requests =
      all.flatMap { [($0, HTTPRequest.Method.get), ($0, HTTPRequest.Method.head)] }
      + [(tooLarge, HTTPRequest.Method.get)]
  }

  @Test("A response that cannot be shared costs none after the first", arguments: Unshareable.requests)
  func unshareable(_ kind: Unshareable, _ method: HTTPRequest.Method) async throws {
    let fleet = await TestFleet(1, largestEntry: 16 << 10)
    fleet.origin.always(kind.status, kind.response, method == .head ? "" : kind.body)
    let options = RequestOptions(redirectLimit: 0)
    try await fleet.nodes[0].get("/", kind.request, method: method, options: options)
    let before = calls(fleet)
    for _ in 0..<5 {
      try await fleet.nodes[0].get("/", kind.request, method: method, options: options)
      // Requests for the key lead others again.
      fleet.clock.advance(by: 3)
    }
    #expect(calls(fleet) == before)
    #expect(fleet.origin.requests.count == 6)
  }

  @Test("A response of unknown length that is too large for the node's own store costs none after the first")
  func tooLargeAtLast() async throws {
    let fleet = await TestFleet(1, largestEntry: 16 << 10)
    fleet.origin.streams([.cacheControl: "max-age=60"]) { _ in
      TestBody(piece: [UInt8](repeating: 1, count: 10_000), count: 2)
    }
    try await fleet.nodes[0].get("/")
    let before = calls(fleet)
    for _ in 0..<5 { try await fleet.nodes[0].get("/") }
    #expect(calls(fleet) == before)
    #expect(fleet.origin.requests.count == 6)
  }

  @Test("Parts of a response that is too large for the tier cost none after the first")
  func partsOfTooLarge() async throws {
    let origin = RangeOrigin(count: 200_000, [.cacheControl: "max-age=600", .eTag: "\"a\""])
    let fleet = await TestFleet(1, largestBody: 100_000, via: origin)
    // The first part is stored. When the node asks the tier again, a part is added to it.
    for first in [0, 100] {
      let before = calls(fleet)
      for start in [first, first + 10, first + 20] {
        let answer = try await fleet.nodes[0].get("/", [.range: "bytes=\(start)-\(start + 9)"])
        #expect(answer.status == 206)
      }
      #expect(calls(fleet) == before + 1)
      fleet.clock.advance(by: 61)
    }
  }

  @Test("HEAD of a response that can be shared asks the tier, until another node has it")
  func shareableHead() async throws {
    let fleet = await TestFleet()
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    try await fleet.nodes[0].get("/", method: .head)
    try await fleet.nodes[1].get("/")
    try await fleet.nodes[0].get("/", method: .head)
    #expect(fleet.origin.requests.count == 2)
  }

  @Test(
    "HEAD that the origin does not answer does not keep the GET from being shared", arguments: [405, 501])
  func refusedHead(_ status: Int) async throws {
    let fleet = await TestFleet()
    fleet.origin.answers { request, _ in
      request.method == .head ? (status, [:], "") : (200, [.cacheControl: "max-age=60"], "one")
    }
    try await fleet.nodes[0].get("/", method: .head)
    try await fleet.nodes[1].get("/")
    #expect(try await fleet.nodes[0].get("/").outcome.isShared)
  }

  @Test("A response to credentials that cannot be shared does not keep others from being shared")
  func credentials() async throws {
    let fleet = await TestFleet()
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    try await fleet.nodes[1].get("/", [.authorization: "Basic a"])
    try await fleet.nodes[0].get("/")
    #expect(try await fleet.nodes[1].get("/").outcome.isShared)
  }

  @Test("After a failure of the origin, the tier is asked again")
  func afterFailure() async throws {
    let fleet = await TestFleet()
    fleet.origin.always(503, [:], "no")
    try await fleet.nodes[1].get("/")
    fleet.origin.always(200, [.cacheControl: "max-age=60"], "one")
    fleet.clock.advance(by: 3)
    try await fleet.nodes[0].get("/")
    #expect(try await fleet.nodes[1].get("/").outcome.isShared)
  }
}
