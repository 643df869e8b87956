import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Section 4.3: requests that validate a response while it arrives", .timeLimit(.minutes(10)))
struct Section4_3_FollowerTests {
  private let test = TestCache()

  private static func isConditional(_ request: HTTPRequest) -> Bool {
    request.headerFields.contains(.ifNoneMatch) || request.headerFields.contains(.ifModifiedSince)
  }

  /// Responses that must be validated before each use, or are stale at once.
  private static let responses: [HTTPFields] = [
    [.cacheControl: "no-cache", .eTag: "\"1\""], [.cacheControl: "max-age=0", .eTag: "\"1\""],
    [.eTag: "W/\"1\""],
    [.lastModified: "Tue, 14 Nov 2023 22:13:20 GMT", .date: "Tue, 14 Nov 2023 22:13:20 GMT"],
  ]

  // holds 9111-4.3.1-1
  @Test("one request gets the body, each other one validates it, and none asks twice", arguments: responses)
  func herd(fields: HTTPFields) async throws {
    let gate = Gate()
    test.origin.streams(fields, status: { Self.isConditional($0) ? 304 : 200 }) { request in
      Self.isConditional(request)
        ? TestBody(piece: [], count: 0) : TestBody(piece: Array("body".utf8), count: 3, gate: (1, gate))
    }
    test.origin.hold()
    let answers = try await withThrowingTaskGroup(of: TestAnswer.self) { group in
      for _ in 0..<20 { group.addTask { try await test.get("/") } }
      await test.origin.arrived(1)
      test.origin.release()
      // Each follower validates before the body has arrived.
      await test.origin.arrived(20)
      gate.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.map(\.text) == Array(repeating: "bodybodybody", count: 20))
    #expect(answers.allSatisfy { $0.status == 200 })
    #expect(test.origin.requests.count == 20)
    #expect(test.origin.requests.filter { !Self.isConditional($0) }.count == 1)
  }

  @Test("a follower whose validation finds another representation gets that one")
  func changed() async throws {
    let gate = Gate()
    test.origin.streams([.cacheControl: "no-cache", .eTag: "\"1\""]) { request in
      Self.isConditional(request)
        ? TestBody(piece: Array("new".utf8), count: 1)
        : TestBody(piece: Array("old".utf8), count: 2, gate: (1, gate))
    }
    test.origin.hold()
    async let first = test.get("/")
    await test.origin.arrived(1)
    async let second = test.get("/")
    test.origin.release()
    #expect(try await second.text == "new")
    gate.open()
    #expect(try await first.text == "oldold")
    #expect(test.origin.requests.count == 2)
  }

  @Test("a follower whose validation fails gets the failure")
  func failed() async throws {
    let gate = Gate()
    test.origin.streams([.cacheControl: "no-cache", .eTag: "\"1\""]) { _ in
      TestBody(piece: Array("old".utf8), count: 2, gate: (1, gate))
    }
    let first = try await test.respond("/")
    test.origin.fails(.unreachable)
    await #expect(throws: UpstreamError.self) { try await test.get("/") }
    gate.open()
    #expect(try await first.body.collect().array == Array("oldold".utf8))
  }
}
