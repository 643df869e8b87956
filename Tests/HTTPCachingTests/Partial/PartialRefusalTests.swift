import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Parts that are not stored, or end", .timeLimit(.minutes(10)))
struct PartialRefusalTests {
  @Test("A body longer than its Content-Range is not stored", arguments: StoreKind.allCases)
  func tooLong(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    test.origin.answers { _ in
      ScriptedResponse(
        status: 206,
        headers: ["Content-Range": "bytes 4-5/10", "Cache-Control": "max-age=60", "ETag": "\"a\""],
        chunks: [BodyBytes(Array("01234".utf8))])
    }
    let response = try await test.respond([.range: "bytes=4-5"])
    await #expect(throws: UpstreamError.self) { try await response.body.collect() }
    #expect(try await test.cache.store.entries(.all, after: nil, limit: 9).entries.isEmpty)
  }

  @Test("A body that ends beyond the largest position is an error, and the next request is answered")
  func beyondLargestPosition() async throws {
    let test = TestCache()
    let range = "bytes 9223372036854775800-9223372036854775806/*"
    test.origin.streams(
      [.contentRange: range, .cacheControl: "max-age=60", .eTag: "\"a\""], status: { _ in 206 }
    ) { _ in TestBody(piece: [UInt8](repeating: 1, count: 10), count: 1) }
    await #expect(throws: UpstreamError.self) {
      try await test.get("/", [.range: "bytes=9223372036854775800-9223372036854775806"])
    }
    test.origin.always(200, [.cacheControl: "max-age=60"], "whole")
    #expect(try await test.get("/").text == "whole")
  }

  @Test("no-store in the 206 ends the continuation", arguments: StoreKind.allCases)
  func noStore(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-4")
    test.origin.change(
      to: RangeOrigin.letters(26), [.cacheControl: "no-store", .eTag: "\"a\""])
    PartialFlowTests.expectWhole(try await test.get(), of: test)
    #expect(try test.lastRequest()[.range] == nil)
  }

  @Test("A part of what is stored whole is not stored", arguments: StoreKind.allCases)
  func storedWhole(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.get()
    #expect(try await test.range("bytes=0-4", policy: .reload).text == "abcde")
    #expect(
      test.events.count {
        if case .notStored(_, .partialContent) = $0 { true } else { false }
      } == 1)
    PartialFlowTests.expectWhole(try await test.get(), of: test)
    #expect(test.origin.requests.count == 2)
  }

  // holds 9110-13.1.5-7
  @Test(
    "RFC 9110 §13.1.5 If-Range still holds when a stale part that it names is validated",
    arguments: StoreKind.allCases)
  func ifRangeOfStalePart(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-9")
    test.clock.advance(by: 100)
    test.origin.change(
      to: RangeOrigin.letters(26, from: 65), [.cacheControl: "max-age=60", .eTag: "\"b\""])
    PartialFlowTests.expectWhole(
      try await test.get([.range: "bytes=0-4", .ifRange: "\"a\""]), of: test)
    #expect(try test.lastRequest()[.ifNoneMatch] == "\"a\"")
    #expect(try await test.get([.range: "bytes=0-4", .ifRange: "\"b\""]).text == "ABCDE")
  }

  @Test("An unsafe request invalidates a part", arguments: StoreKind.allCases)
  func invalidated(kind: StoreKind) async throws {
    let test = try TestCache(kind)
    try await test.range("bytes=0-4")
    test.origin.answers { _ in ScriptedResponse(status: 204) }
    try await test.get(method: .put)
    test.origin.answers(nil)
    #expect(try await test.range("bytes=0-1").text == "ab")
    #expect(try test.lastRequest()[.ifNoneMatch] == "\"a\"")
  }
}
