import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("RFC 9111 §3.3, §3.4: partial content, through the engine", .timeLimit(.minutes(10)))
struct PartialFlowTests {
  /// Without printing what may be a megabyte.
  static func expectWhole(
    _ answer: TestAnswer, of test: TestCache<RangeOrigin>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let isSame = answer.text == test.origin.text
    #expect(
      isSame && answer.status == 200, "\(answer.status), \(answer.text.utf8.count) bytes",
      sourceLocation: sourceLocation)
  }

  // holds 9111-3.3-3
  @Test("§3.3 A stored part answers ranges wholly within it", arguments: StoreKind.allCases)
  func within(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    let first = try await test.range("bytes=5-14")
    #expect(first.status == 206 && first.text == "fghijklmno")
    let second = try await test.range("bytes=6-8")
    #expect(second.status == 206 && second.text == "ghi")
    #expect(second.head.headerFields[.contentRange] == "bytes 6-8/26")
    #expect(second.head.headerFields[.contentLength] == "3")
    #expect(second.head.headerFields[.age] == "0")
    let several = try await test.range("bytes=5-5,14-14")
    #expect(several.text.contains("Content-Range: bytes 14-14/26\r\n\r\no"))
    #expect(test.origin.requests.count == 1)
  }

  // holds 9111-3.3-2
  @Test("§3.3 A stored part does not answer anything else", arguments: StoreKind.allCases)
  func notWithin(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-4")
    #expect(try await test.range("bytes=10-12").text == "klm")
    #expect(try await test.get(method: .head).status == 200)
    #expect(test.origin.requests.count == 3)
    let refused = try await test.get(policy: .cacheOnly)
    #expect(refused.status == 504)
  }

  // holds 9110-15.3.7.3-3
  @Test("§3.4 Parts with one strong validator are combined", arguments: StoreKind.allCases)
  func combines(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-4")
    try await test.range("bytes=10-14")
    try await test.range("bytes=5-9")
    let across = try await test.range("bytes=3-12")
    #expect(across.text == "defghijklm")
    #expect(test.origin.requests.count == 3)
  }

  @Test(
    "§3.4 What is missing of a range is asked for with If-Range", arguments: StoreKind.allCases)
  func completesRange(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-4")
    let answer = try await test.range("bytes=2-9")
    #expect(answer.status == 206 && answer.text == "cdefghij")
    #expect(answer.head.headerFields[.contentRange] == "bytes 2-9/26")
    #expect(try test.lastRequest()[.range] == "bytes=5-9")
    #expect(try test.lastRequest()[.ifRange] == "\"a\"")
    #expect(test.origin.sent == 10)
    #expect(try await test.range("bytes=0-9").text == "abcdefghij")
    #expect(test.origin.requests.count == 2)
  }

  // holds 9110-15.3.7.3-2
  @Test("§3.4 The rest is fetched, and the response is complete", arguments: StoreKind.allCases)
  func completes(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-4")
    let whole = try await test.get()
    Self.expectWhole(whole, of: test)
    #expect(whole.head.headerFields[.contentLength] == "26")
    #expect(whole.head.headerFields[.contentRange] == nil)
    #expect(try test.lastRequest()[.range] == "bytes=5-")
    #expect(try test.lastRequest()[.ifRange] == "\"a\"")
    #expect(test.origin.sent == 26)
    #expect(test.events.count { if case .stored(_, bytes: 26) = $0 { true } else { false } } == 1)
    let again = try await test.get()
    Self.expectWhole(again, of: test)
    #expect(test.origin.requests.count == 2)
    if case .hit = again.outcome {} else { Issue.record("\(again.outcome)") }
  }

  @Test("§3.4 A gap between two parts is filled", arguments: StoreKind.allCases)
  func fillsGap(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-4")
    try await test.range("bytes=20-25")
    let whole = try await test.get()
    Self.expectWhole(whole, of: test)
    #expect(try test.lastRequest()[.range] == "bytes=5-19")
    #expect(test.origin.sent == 26)
    #expect(try await test.range("bytes=-3").text == "xyz")
    #expect(test.origin.requests.count == 3)
  }

  @Test("§3.3 A transfer that broke off is kept and continued", arguments: StoreKind.allCases)
  func resumes(kind: StoreKind) async throws {
    let origin = RangeOrigin(count: 600_000)
    let test = try TestCache(kind, origin: origin)
    try await test.breakOff(after: 400_000)
    #expect(
      test.events.count { if case .kept(_, bytes: 400_000) = $0 { true } else { false } } == 1)
    #expect(try await test.range("bytes=0-9").text == "abcdefghij")
    #expect(origin.requests.count == 1)
    let whole = try await test.get()
    Self.expectWhole(whole, of: test)
    #expect(try test.lastRequest()[.range] == "bytes=400000-")
    #expect(origin.sent == 600_000)
    #expect(whole.head.headerFields[.cacheStatus] == "test; fwd=partial; fwd-status=206; ttl=60; stored")
    Self.expectWhole(try await test.get(), of: test)
    #expect(origin.requests.count == 2)
  }

  @Test("§3.3 It may break off more than once", arguments: StoreKind.allCases)
  func resumesTwice(kind: StoreKind) async throws {
    let origin = RangeOrigin(count: 900_000)
    let test = try TestCache(kind, origin: origin)
    try await test.breakOff(after: 300_000)
    try await test.breakOff(after: 300_000)
    #expect(try test.lastRequest()[.range] == "bytes=300000-")
    let whole = try await test.get()
    #expect(try test.lastRequest()[.range] == "bytes=600000-")
    Self.expectWhole(whole, of: test)
    #expect(origin.sent == 900_000)
  }

  // holds 9110-14.3-1
  @Test("§3.4 A changed representation is never mixed in", arguments: StoreKind.allCases)
  func changed(kind: StoreKind) async throws {
    let origin = RangeOrigin(count: 600_000)
    let test = try TestCache(kind, origin: origin)
    try await test.breakOff(after: 400_000)
    origin.change(
      to: RangeOrigin.letters(600_000, from: 65),
      [.cacheControl: "max-age=60", .eTag: "\"b\""])
    let whole = try await test.get()
    #expect(try test.lastRequest()[.ifRange] == "\"a\"")
    Self.expectWhole(whole, of: test)
    #expect(try await test.range("bytes=0-3").text == "ABCD")
    Self.expectWhole(try await test.get(), of: test)
    #expect(origin.requests.count == 2)
  }

  // holds 9110-13.1.5-1
  @Test(
    "§3.4 A 206 that does not belong is not used, and the whole is asked for",
    arguments: StoreKind.allCases, ["\"b\"", "W/\"a\"", ""])
  func wrongPart(kind: StoreKind, tag: String) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-4")
    test.origin.answers { request in
      if request.headerFields[.range] == nil {
        return ScriptedResponse(headers: ["ETag": "\"b\"", "Cache-Control": "max-age=60"], body: "NEW")
      }
      var part = ScriptedResponse(
        status: 206, headers: ["Content-Range": "bytes 5-25/26", "Cache-Control": "max-age=60"],
        body: String(repeating: "X", count: 21))
      if !tag.isEmpty { part.head.headerFields[.eTag] = tag }
      return part
    }
    let whole = try await test.get()
    #expect(whole.status == 200 && whole.text == "NEW")
    #expect(try test.lastRequest()[.ifRange] == nil)
    #expect(try await test.range("bytes=0-1").text == "NE")
  }

  @Test("§3.4 Without a strong validator nothing is continued", arguments: StoreKind.allCases)
  func weak(kind: StoreKind) async throws {
    for fields: HTTPFields in [
      [.cacheControl: "max-age=60", .eTag: "W/\"a\""], [.cacheControl: "max-age=60"],
    ] {
      let test = try TestCache(kind, origin: RangeOrigin(count: 600_000, fields))
      try await test.breakOff(after: 400_000)
      Self.expectWhole(try await test.get(), of: test)
      #expect(try test.lastRequest()[.range] == nil)
    }
  }

  @Test("§4.3.1 A stale part is validated; a 304 lets it answer", arguments: StoreKind.allCases)
  func validates(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-9")
    test.clock.advance(by: 61)
    let answer = try await test.range("bytes=2-3")
    #expect(answer.status == 206 && answer.text == "cd")
    #expect(try test.lastRequest()[.ifNoneMatch] == "\"a\"")
    #expect(try test.lastRequest()[.range] == "bytes=2-3")
    #expect(test.origin.sent == 10)
    #expect(try await test.range("bytes=2-3").text == "cd")
    #expect(test.origin.requests.count == 2)
  }

  @Test("§3.4 A stale part is continued too: If-Range validates it", arguments: StoreKind.allCases)
  func staleResumes(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-9")
    test.clock.advance(by: 1000)
    Self.expectWhole(try await test.get(), of: test)
    #expect(test.origin.sent == 26)
    Self.expectWhole(try await test.get(), of: test)
    #expect(test.origin.requests.count == 2)
  }

  @Test("A part never takes the place of a complete response", arguments: StoreKind.allCases)
  func keepsComplete(kind: StoreKind) async throws {
    let test = try TestCache(kind, origin: RangeOrigin(count: 600_000))
    try await test.get()
    test.origin.change(
      to: RangeOrigin.letters(600_000, from: 65), [.cacheControl: "max-age=60", .eTag: "\"b\""])
    test.origin.breaks(after: 300_000)
    let broken = try await test.respond(policy: .reload)
    await #expect(throws: UpstreamError.self) { try await broken.body.collect() }
    await test.events.wait { if case .kept = $0 { true } else { false } }
    #expect(try await test.get().text.hasPrefix("abc"))
    #expect(test.origin.requests.count == 2)
    test.origin.breaks(after: nil)
    test.clock.advance(by: 61)
    Self.expectWhole(try await test.get(), of: test)
    #expect(try test.lastRequest()[.range] == "bytes=300000-")
    #expect(try test.lastRequest()[.ifRange] == "\"b\"")
  }

  @Test("A caller that leaves: what arrived is kept", arguments: StoreKind.allCases)
  func callerLeaves(kind: StoreKind) async throws {
    let test = try TestCache(kind, origin: RangeOrigin(count: 3_900_000))
    do {
      let response = try await test.respond()
      _ = try await response.body.source.next()
    }
    await test.events.wait(EventLog.isEnd)
    let whole = try await test.get()
    Self.expectWhole(whole, of: test)
    #expect(try test.lastRequest()[.ifRange] == "\"a\"")
  }

  @Test("Several callers share one continued transfer", arguments: StoreKind.allCases)
  func collapses(kind: StoreKind) async throws {
    let test = try TestCache(kind, origin: RangeOrigin(count: 900_000))
    try await test.breakOff(after: 400_000)
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<5 { group.addTask { try await test.get().text } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let isSame = texts.allSatisfy { $0 == test.origin.text }
    #expect(isSame, "\(texts.map(\.count))")
    #expect(test.origin.sent == 900_000)
  }

  @Test(
    "A part that is not what its Content-Range says is answered as far as it came",
    arguments: StoreKind.allCases)
  func liar(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    test.origin.answers { _ in
      ScriptedResponse(
        status: 206, headers: ["Content-Range": "bytes 4-9/10", "Cache-Control": "max-age=60"],
        body: "01234")
    }
    #expect(try await test.range("bytes=-5").text == "01234")
    #expect(try await test.range("bytes=-5").text == "01234")
    #expect(try await test.range("bytes=6-8").text == "234")
    #expect(test.origin.requests.count == 1)
    try await test.range("bytes=6-")
    #expect(test.origin.requests.count == 2)
  }
}
