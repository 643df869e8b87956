import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

@Suite(.timeLimit(.minutes(10))) struct CachedBytesTests {
  @Test func bytesAndChunks() async throws {
    let content = OriginAnswer.pattern(0..<300_000)
    let test = try TestSession { _ in
      OriginAnswer(fields: [("Cache-Control", "max-age=60")], steps: [.pattern(0..<300_000)])
    }
    let (bytes, response) = try await test.session.bytes(from: test.origin.url("/"))
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    #expect(bytes.length == 300_000)
    var all: [UInt8] = []
    for try await byte in bytes { all.append(byte) }
    #expect(all == content)
    let (again, _) = try await test.session.bytes(from: test.origin.url("/"))
    var data = Data()
    for try await chunk in again.chunks { data += chunk }
    #expect(Array(data) == content)
    #expect(test.origin.requests.count == 1)
  }

  @Test func theyComeAsTheyArrive() async throws {
    let latch = Latch()
    let test = try TestSession { _ in
      OriginAnswer(steps: [.bytes([65]), .hold(latch), .bytes([66])], framing: .chunked)
    }
    let (bytes, _) = try await test.session.bytes(from: test.origin.url("/"))
    var iterator = bytes.makeAsyncIterator()
    #expect(try await iterator.next() == 65)
    latch.open()
    #expect(try await iterator.next() == 66)
    #expect(try await iterator.next() == nil)
  }

  @Test func lines() async throws {
    let test = try TestSession { _ in .text("one\ntwo\r\n\nthr\u{e9}\u{e8}\rfour\n") }
    let (bytes, _) = try await test.session.bytes(from: test.origin.url("/"))
    var lines: [String] = []
    for try await line in bytes.lines { lines.append(line) }
    #expect(lines == ["one", "two", "", "thr\u{e9}\u{e8}", "four"])
  }

  @Test func aCutBodyEndsWithAnError() async throws {
    let test = try TestSession { _ in
      OriginAnswer(steps: [.bytes([1, 2, 3]), .cut], framing: .length(10))
    }
    let (bytes, _) = try await test.session.bytes(from: test.origin.url("/"))
    await #expect(throws: URLError.self) { for try await _ in bytes {} }
  }
}

@Suite(.timeLimit(.minutes(10))) struct CachedValueTests {
  private struct Person: Codable, Equatable, Sendable { var name: String }

  @Test func freshThenCached() async throws {
    let test = try TestSession { _ in .text(#"{"name": "Ann"}"#, [("Cache-Control", "max-age=60")]) }
    let first = try await test.session.value(of: Person.self, from: test.origin.url("/"))
    #expect(first.value == Person(name: "Ann"))
    #expect(first.source == .origin && first.date == nil)
    #expect((first.response as? HTTPURLResponse)?.statusCode == 200)
    test.clock.advance(by: 10)
    let second = try await test.session.value(of: Person.self, from: test.origin.url("/"))
    #expect(second.value.name == "Ann")
    let now = TimeInterval(test.clock.now.seconds)
    let date = Date(timeIntervalSince1970: now - 10)
    #expect(second.source == .cache(date) && second.date == date && !second.isDisconnected)
    #expect(second.outcome == .hit(age: .seconds(10), lifetime: .seconds(60), allowance: nil))
  }

  @Test func theLastKnownWhereTheOriginIsGone() async throws {
    let test = try TestSession { _ in .text(#"{"name": "Ann"}"#, [("ETag", "\"a\"")]) }
    _ = try await test.session.value(of: Person.self, from: test.origin.url("/"))
    test.origin.stop()
    let other = CachedURLSession(cache: test.cache, configuration: .ephemeral)
    let value = try await other.value(
      of: Person.self, from: test.origin.url("/"), cachePolicy: .networkElseCache())
    #expect(value.value.name == "Ann" && value.date != nil)
    #expect(value.isDisconnected)
  }

  @Test func anErrorPageIsNoValue() async throws {
    let test = try TestSession { _ in .text("{}", status: 500) }
    await #expect(throws: UnexpectedStatus.self) {
      _ = try await test.session.value(of: Person.self, from: test.origin.url("/"))
    }
  }

  @Test("a stale value of an origin that is gone is not taken for one that needs no asking")
  func disconnected() async throws {
    let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
    let origin = ScriptedUpstream([
      .init(headers: ["Cache-Control": "max-age=10"], body: #"{"name": "Ann"}"#)
    ])
    let cache = HTTPCache(
      configuration: HTTPCache.Configuration(clock: clock),
      store: MemoryStore(capacity: 1 << 20, clock: clock))
    let session = CachedURLSession(cache: cache, via: origin, configuration: .ephemeral)
    let url = try #require(URL(string: "https://example.com/"))
    var sources: [CachedValueSource] = []
    for _ in 0..<3 {
      sources.append(try await session.value(of: Person.self, from: url).source)
      clock.advance(by: 6)
    }
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    #expect(sources == [.origin, .cache(date), .disconnected(date)])
  }

  @Test func map() throws {
    let url = try #require(URL(string: "https://example.com/"))
    let response = URLResponse(
      url: url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil)
    let date = Date(timeIntervalSince1970: 5)
    let value = CachedValue(2, from: .cache(date), response: response)
    #expect(value.map { "\($0)" }.value == "2")
    #expect(value.map { $0 + 1 }.source == .cache(date))
  }
}
