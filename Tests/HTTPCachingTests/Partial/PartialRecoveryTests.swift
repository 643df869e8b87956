import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Incomplete responses do not outlive their use", .timeLimit(.minutes(10)))
struct PartialRecoveryTests {
  /// Answers ranges wrongly, and other requests correctly.
  private func lie(_ test: TestCache<RangeOrigin>, _ part: ScriptedResponse) {
    let text = test.origin.text
    test.origin.answers { request in
      let isRange = request.headerFields[.range] != nil
      var response = isRange ? part : ScriptedResponse(body: text)
      response.head.headerFields = [.eTag: "\"a\"", .cacheControl: "max-age=60"]
      if isRange { response.head.headerFields[.contentRange] = "bytes 10-25/26" }
      return response
    }
  }

  @Test(
    "An origin that sends fewer octets than it says is asked for the whole",
    arguments: StoreKind.allCases)
  func wrongLength(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-9")
    lie(test, ScriptedResponse(status: 206))
    #expect(try await test.get().text == test.origin.text)
  }

  @Test(
    "A continuation that brings nothing, or too much, is not tried again",
    arguments: StoreKind.allCases, [0, 40])
  func failingContinuation(kind: StoreKind, count: Int) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-9")
    let part = ScriptedResponse(status: 206, chunks: [BodyBytes([UInt8](repeating: 88, count: count))])
    lie(test, count == 0 ? part.cutShort() : part)
    let broken = try await test.respond()
    await #expect(throws: UpstreamError.self) { try await broken.body.collect() }
    #expect(try await test.get().text == test.origin.text)
    #expect(try test.lastRequest()[.range] == nil)
    #expect(try await test.get().text == test.origin.text)
  }

  @Test("no-cache in the request asks for the whole", arguments: StoreKind.allCases)
  func reload(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-9")
    #expect(try await test.get([.cacheControl: "no-cache"]).text == test.origin.text)
    #expect(try test.lastRequest()[.range] == nil)
  }

  // holds 9111-4.3.5-2, 9111-4.3.5-3
  @Test("A HEAD that tells of another representation ends the use of a part", arguments: StoreKind.allCases)
  func head(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-9")
    test.origin.change(
      to: RangeOrigin.letters(30, from: 65), [.cacheControl: "max-age=60", .eTag: "\"b\""])
    try await test.get(method: .head)
    #expect(try await test.range("bytes=0-1").text == "AB")
  }

  // holds 9111-4.3.5-2, 9111-4.3.5-3
  @Test("So does one with a condition that only the origin can evaluate")
  func headWithCondition() async throws {
    let test = try TestCache(.memory)
    try await test.get()
    test.origin.change(
      to: RangeOrigin.letters(26, from: 65), [.cacheControl: "max-age=60", .eTag: "\"b\""])
    try await test.get([.ifMatch: "\"b\""], method: .head)
    #expect(try await test.get().text == test.origin.text)
  }

  // holds 9111-3.3-2
  @Test(
    "§3.3 A range that broke off is not the answer to the same range",
    arguments: StoreKind.allCases, ["bytes=0-19", "bytes=0-", "bytes=5-19", "bytes=-20"])
  func brokenRange(kind: StoreKind, range: String) async throws {
    let test = try TestCache(kind)
    test.origin.breaks(after: 4)
    let broken = try await test.respond([.range: range])
    await #expect(throws: UpstreamError.self) { try await broken.body.collect() }
    await test.events.wait(count: 1, EventLog.isEnd)
    test.origin.breaks(after: nil)
    let whole = try #require(broken.head.headerFields[.contentLength].flatMap { Int($0) })
    let again = try await test.range(range)
    #expect(again.status == 206 && again.text.utf8.count == whole)
    #expect(again.head.headerFields[.contentRange] == broken.head.headerFields[.contentRange])
  }

  // holds 9111-3.3-2
  @Test(
    "§3.3 Neither is one whose reader left", arguments: StoreKind.allCases, ["bytes=0-", "bytes=9-2999999"])
  func abandonedRange(kind: StoreKind, range: String) async throws {
    let test = try TestCache(kind, origin: RangeOrigin(count: 4_000_000))
    do {
      let left = try await test.respond([.range: range])
      #expect(try await left.body.source.next() != nil)
    }
    await test.events.wait(count: 1, EventLog.isEnd)
    let again = try await test.range(range)
    let (first, last) = range == "bytes=0-" ? (0, 3_999_999) : (9, 2_999_999)
    #expect(again.head.headerFields[.contentRange] == "bytes \(first)-\(last)/4000000")
    #expect(again.text.utf8.count == last - first + 1)
  }

  @Test("A newer response that must not be stored ends the use of a part", arguments: StoreKind.allCases)
  func superseded(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-9")
    test.origin.change(
      to: RangeOrigin.letters(26, from: 65), [.cacheControl: "no-store", .eTag: "\"b\""])
    try await test.get()
    #expect(try await test.range("bytes=0-1").text == "AB")
  }
}

@Suite("A part is nobody else's answer", .timeLimit(.minutes(10)))
struct PartialSharingTests {
  @Test("§3.3 A 206 that was not asked for is not shared with followers that wait for the whole")
  func unasked() async throws {
    let test = TestCache()
    test.origin.always(
      206, [.cacheControl: "max-age=60", .eTag: "\"a\"", .contentRange: "bytes 0-4/10"], "01234")
    test.origin.hold()
    async let first = test.get("/")
    await test.origin.arrived(1)
    async let second = test.get("/")
    try await until { test.cache.unfinishedWork.waiters == 1 }
    test.origin.release()
    let answers = try await [first, second]
    #expect(answers.map(\.status) == [206, 206])
    #expect(test.origin.requests.count >= 2)
  }

  @Test("§3.4 A range that is put together is not shared either", arguments: StoreKind.allCases)
  func completedRange(kind: StoreKind) async throws {
    let test = try TestCache(kind, origin: RangeOrigin(count: 600_000))
    try await test.range("bytes=0-9")
    async let part = test.range("bytes=5-19")
    async let whole = test.get()
    let answers = try await [part, whole]
    #expect(answers[0].text == "fghijklmnopqrst")
    let isWhole = answers[1].text == test.origin.text
    #expect(isWhole && answers[1].status == 200)
  }

  @Test("§14.4 A range beyond a length that was not known ends with it", arguments: StoreKind.allCases)
  func clamped(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    test.origin.answers { request in
      let isFirst = request.headerFields[.ifRange] == nil
      return ScriptedResponse(
        status: 206,
        headers: [
          "Content-Range": isFirst ? "bytes 0-4/*" : "bytes 5-9/10", "ETag": "\"a\"",
          "Cache-Control": "max-age=60",
        ], body: isFirst ? "01234" : "56789")
    }
    try await test.range("bytes=0-4")
    let answer = try await test.range("bytes=2-100")
    #expect(answer.text == "23456789")
    #expect(answer.head.headerFields[.contentRange] == "bytes 2-9/10")
  }
}
