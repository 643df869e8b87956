import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("Stored parts tell the length of the whole (RFC 9110 §8.8.1)", .timeLimit(.minutes(10)))
struct KnownLengthTests {
  /// Answers every request with a 200 that announces no length.
  private func send(_ count: Int, _ test: TestCache<RangeOrigin>) {
    test.origin.answers { _ in Self.unannounced(RangeOrigin.letters(count, from: 65)) }
  }

  /// A 200 that announces no length.
  private static func unannounced(_ letters: [UInt8]) -> ScriptedResponse {
    ScriptedResponse(
      headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60"],
      chunks: stride(from: 0, to: letters.count, by: 8).map { BodyBytes(letters[$0...].prefix(8)) })
  }

  /// A cache with the first 10 of 26 bytes.
  private func withPart(_ kind: StoreKind, isRange: Bool) async throws -> TestCache<RangeOrigin> {
    let test = try TestCache(kind)
    if isRange {
      try await test.range("bytes=0-9")
      return test
    }
    test.origin.breaks(after: 10)
    let broken = try await test.respond()
    await #expect(throws: UpstreamError.self) { try await broken.body.collect() }
    await test.events.wait(count: 1, EventLog.isEnd)
    test.origin.breaks(after: nil)
    return test
  }

  @Test(
    "a 200 of another length under the same strong validator is an error, and the part stays",
    arguments: [StoreKind.memory, .disk], [true, false])
  func contradictions(kind: StoreKind, isRange: Bool) async throws {
    for count in [8, 20, 40] {
      let test = try await withPart(kind, isRange: isRange)
      send(count, test)
      for _ in 0..<2 {
        let response = try await test.respond()
        await #expect(throws: UpstreamError.self, "\(count)") { try await response.body.collect() }
        #expect(try test.lastRequest()[.range] == "bytes=10-")
      }
      test.origin.answers(nil)
      #expect(try await test.get().text == test.origin.text)
      #expect(try test.lastRequest()[.range] == "bytes=10-")
    }
  }

  @Test("a 200 without a length that has the known one is the whole", arguments: StoreKind.allCases)
  func whole(kind: StoreKind) async throws {
    let test = try await withPart(kind, isRange: true)
    send(26, test)
    let text = String(decoding: RangeOrigin.letters(26, from: 65), as: UTF8.self)
    #expect(try await test.get().text == text)
    let count = test.origin.requests.count
    #expect(try await test.get().text == text)
    #expect(test.origin.requests.count == count)
  }

  @Test("the length is compared, too, where the whole was asked for without a range")
  func afterFailure() async throws {
    let test = try await withPart(.disk, isRange: true)
    test.origin.answers { request in
      request.headerFields[.range] == nil
        ? Self.unannounced(RangeOrigin.letters(20)) : ScriptedResponse(status: 503)
    }
    let response = try await test.respond()
    #expect(try test.lastRequest()[.range] == nil)
    await #expect(throws: UpstreamError.self) { try await response.body.collect() }
  }

  @Test(
    "a transfer that breaks off leaves the part and the known length", arguments: [StoreKind.memory, .disk])
  func breaks(kind: StoreKind) async throws {
    let test = try await withPart(kind, isRange: true)
    test.origin.answers { _ in Self.unannounced(RangeOrigin.letters(20)).cutShort() }
    let broken = try await test.respond()
    await #expect(throws: UpstreamError.self) { try await broken.body.collect() }
    await test.events.wait(count: 1, EventLog.isEnd)
    send(22, test)
    let short = try await test.respond()
    #expect(try test.lastRequest()[.range] == "bytes=10-")
    await #expect(throws: UpstreamError.self) { try await short.body.collect() }
  }

  @Test("another validator, another coding and a reload begin anew", arguments: [StoreKind.memory, .disk])
  func others(kind: StoreKind) async throws {
    for fields in [
      [.eTag: "\"b\""], [.eTag: "W/\"a\""], [.eTag: "\"a\"", .contentEncoding: "br"],
    ] as [HTTPFields] {
      let test = try await withPart(kind, isRange: true)
      test.origin.answers { _ in
        ScriptedResponse(
          head: HTTPResponse(status: .ok, headerFields: fields),
          steps: [.bytes(BodyBytes(RangeOrigin.letters(20)))])
      }
      #expect(try await test.get().text.utf8.count == 20)
    }
    let test = try await withPart(kind, isRange: true)
    send(20, test)
    #expect(try await test.get([.cacheControl: "no-cache"]).text.utf8.count == 20)
  }

  @Test(
    "another success in place of the rest gets one request without the range, and the part stays",
    arguments: [StoreKind.memory, .disk], [202, 204, 205, 299])
  func otherSuccess(kind: StoreKind, status: Int) async throws {
    let test = try await withPart(kind, isRange: true)
    test.origin.answers { _ in
      ScriptedResponse(status: status, headers: ["ETag": "\"b\"", "Cache-Control": "max-age=60"])
    }
    #expect(try await test.get().status == status)
    #expect(test.origin.requests.suffix(2).map { $0.headerFields[.range] } == ["bytes=10-", nil])
    test.origin.answers(nil)
    #expect(try await test.get().text == test.origin.text)
    #expect(try test.lastRequest()[.range] == "bytes=10-")
  }
}
