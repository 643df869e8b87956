import HTTPCaching
import Testing

@Suite("Transfers: nothing incomplete is stored as complete", .timeLimit(.minutes(10)))
struct TransferFaultTests {
  private let test = TestCache()
  private let fields: HTTPFields = [.cacheControl: "max-age=10"]

  private func storedCount() async throws -> Int {
    try await test.cache.store.entries(.all, after: nil, limit: 10).entries.count
  }

  @Test(
    "a body that breaks off, or is shorter than announced, is the caller's error and leaves nothing",
    arguments: [(9, 27, 2), (9, nil, 3), (2, 9, nil)] as [(Int, Int64?, Int?)])
  func incomplete(count: Int, announced: Int64?, failsAt: Int?) async throws {
    test.origin.streams(fields) { _ in
      TestBody(piece: [1, 2, 3], count: count, announced: announced, failsAt: failsAt)
    }
    let response = try await test.respond("/")
    await #expect(throws: UpstreamError.self) { try await response.body.collect() }
    #expect(try await storedCount() == 0)
  }

  @Test("bytes beyond the announced length reach no reader and nothing is stored")
  func tooLong() async throws {
    test.origin.streams(fields) { _ in TestBody(piece: [1, 2, 3], count: 3, announced: 6) }
    let response = try await test.respond("/")
    var received = 0
    await #expect(throws: UpstreamError.self) {
      for try await bytes in response.body { received += bytes.count }
    }
    #expect(received <= 6)
    #expect(try await storedCount() == 0)
  }

  @Test(
    "a caller that leaves early stops the transfer; what came is not stored",
    arguments: [10_000_000, nil] as [Int64?])
  func callerLeaves(announced: Int64?) async throws {
    let body = TestBody(piece: [UInt8](repeating: 1, count: 100_000), count: 100, announced: announced)
    test.origin.streams(fields) { _ in body }
    do {
      let response = try await test.respond("/")
      _ = try await response.body.source.next()
    }
    await test.events.wait { if case .notStored(_, .incomplete) = $0 { true } else { false } }
    #expect(body.isCancelled)
    #expect(body.given < 100, "at most the window was fetched")
    #expect(try await storedCount() == 0)
  }

  @Test("a caller that leaves when little is left: the rest is fetched and stored")
  func littleLeft() async throws {
    let body = TestBody(piece: [UInt8](repeating: 1, count: 1000), count: 20, announced: 20_000)
    test.origin.streams(fields) { _ in body }
    do {
      let response = try await test.respond("/")
      _ = try await response.body.source.next()
    }
    await test.events.wait { if case .stored = $0 { true } else { false } }
    #expect(try await test.get("/").text.utf8.count == 20_000)
    #expect(test.origin.requests.count == 1)
  }

  @Test("the fetch does not run further ahead of its reader than the window")
  func backpressure() async throws {
    let body = TestBody(piece: [UInt8](repeating: 1, count: 64 << 10), count: 400)
    test.origin.streams(fields) { _ in body }
    let response = try await test.respond("/")
    _ = try await response.body.source.next()
    // No event tells that nothing more is fetched: time for it shows a fault, and a busy machine can only hide one.
    for _ in 0..<1000 { await Task.yield() }
    #expect(body.given <= 19, "1 MiB is 16 pieces; one was read, one may be under way")
    #expect(try await response.body.collect().count == 399 * (64 << 10))
  }

  @Test("a response larger than the largest entry is passed on whole and says why it is not stored")
  func tooLarge() async throws {
    let test = TestCache(largestEntry: 1000)
    test.origin.streams(fields) { _ in
      TestBody(piece: [UInt8](repeating: 1, count: 500), count: 10)
    }
    #expect(try await test.get("/").text.utf8.count == 5000)
    #expect(
      test.events.count { if case .notStored(_, .tooLarge) = $0 { true } else { false } } == 1)
    test.origin.streams(fields) { _ in
      TestBody(piece: [UInt8](repeating: 1, count: 500), count: 10, announced: 5000)
    }
    #expect(try await test.get("/").text.utf8.count == 5000)
  }

  @Test(
    "a reload that is too large to be stored ends the use of the old response (RFC 9111 §4.3.3)",
    arguments: [5000, nil] as [Int64?])
  func tooLargeReload(announced: Int64?) async throws {
    let test = TestCache(largestEntry: 1000)
    try await test.store([.cacheControl: "max-age=3600"], "old")
    test.origin.streams([.cacheControl: "max-age=3600"]) { _ in
      TestBody(piece: [UInt8](repeating: 1, count: 500), count: 10, announced: announced)
    }
    for fields in [[.cacheControl: "no-cache"], [:]] as [HTTPFields] {
      #expect(try await test.get("/", fields).text.utf8.count == 5000)
    }
    #expect(test.origin.requests.count == 3)
  }

  // holds 9111-3.1-3, 9110-6.5-1, 9110-6.5.1-1
  @Test("trailers arrive after the body, from the origin and from the store")
  func trailers() async throws {
    let name = try #require(HTTPField.Name("X-Sum"))
    test.origin.streams(fields) { _ in
      TestBody(piece: [65], count: 2, trailers: [name: "42"])
    }
    let passed = try await test.get("/")
    #expect(passed.trailers[name] == "42")
    #expect(passed.head.headerFields[name] == nil)
    let stored = try await test.get("/")
    #expect(stored.head.headerFields[name] == nil)
    #expect(stored.text == "AA")
    #expect(stored.trailers[name] == "42")
    #expect(test.origin.requests.count == 1)
  }

  @Test("a trailer field that must not be stored reaches its caller only (RFC 9111 §3.1)")
  func unstorableTrailers() async throws {
    let name = try #require(HTTPField.Name("X-Sum"))
    test.origin.streams([.cacheControl: "max-age=60, no-cache=\"X-Sum\""]) { _ in
      TestBody(piece: [65], count: 2, trailers: [name: "42"])
    }
    #expect(try await test.get("/").trailers[name] == "42")
    let stored = try await test.get("/")
    #expect(stored.text == "AA")
    #expect(stored.trailers[name] == nil)
    #expect(test.origin.requests.count == 1)
  }
}
