import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(10))) struct CachedBytesTests {
  @Test func bytesAndChunks() async throws {
    let content = OriginAnswer.pattern(0..<300_000)
    let kit = try Kit { _ in
      OriginAnswer(fields: [("Cache-Control", "max-age=60")], steps: [.pattern(0..<300_000)])
    }
    let (bytes, response) = try await kit.session.bytes(from: kit.origin.url("/"))
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    #expect(bytes.length == 300_000)
    var all: [UInt8] = []
    for try await byte in bytes { all.append(byte) }
    #expect(all == content)
    let (again, _) = try await kit.session.bytes(from: kit.origin.url("/"))
    var data = Data()
    for try await chunk in again.chunks { data += chunk }
    #expect(Array(data) == content)
    #expect(kit.origin.requests.count == 1)
  }

  @Test func theyComeAsTheyArrive() async throws {
    let latch = Latch()
    let kit = try Kit { _ in
      OriginAnswer(steps: [.bytes([65]), .hold(latch), .bytes([66])], framing: .chunked)
    }
    let (bytes, _) = try await kit.session.bytes(from: kit.origin.url("/"))
    var iterator = bytes.makeAsyncIterator()
    #expect(try await iterator.next() == 65)
    latch.open()
    #expect(try await iterator.next() == 66)
    #expect(try await iterator.next() == nil)
  }

  @Test func lines() async throws {
    let kit = try Kit { _ in .text("one\ntwo\r\n\nthr\u{e9}\u{e8}\rfour\n") }
    let (bytes, _) = try await kit.session.bytes(from: kit.origin.url("/"))
    var lines: [String] = []
    for try await line in bytes.lines { lines.append(line) }
    #expect(lines == ["one", "two", "", "thr\u{e9}\u{e8}", "four"])
  }

  @Test func aCutBodyEndsWithAnError() async throws {
    let kit = try Kit { _ in
      OriginAnswer(steps: [.bytes([1, 2, 3]), .cut], framing: .length(10))
    }
    let (bytes, _) = try await kit.session.bytes(from: kit.origin.url("/"))
    await #expect(throws: URLError.self) { for try await _ in bytes {} }
  }
}

@Suite(.timeLimit(.minutes(10))) struct CachedValueTests {
  private struct Person: Codable, Equatable, Sendable { var name: String }

  @Test func freshThenCached() async throws {
    let kit = try Kit { _ in .text(#"{"name": "Ann"}"#, [("Cache-Control", "max-age=60")]) }
    let first = try await kit.session.value(of: Person.self, from: kit.origin.url("/"))
    #expect(first == .fresh(Person(name: "Ann")))
    kit.clock.advance(by: 10)
    let second = try await kit.session.value(of: Person.self, from: kit.origin.url("/"))
    #expect(second.value.name == "Ann")
    let now = TimeInterval(kit.clock.now.seconds)
    #expect(second.date == Date(timeIntervalSince1970: now - 10))
  }

  @Test func theLastKnownWhereTheOriginIsGone() async throws {
    let kit = try Kit { _ in .text(#"{"name": "Ann"}"#, [("ETag", "\"a\"")]) }
    _ = try await kit.session.value(of: Person.self, from: kit.origin.url("/"))
    kit.origin.stop()
    let other = CachedURLSession(cache: kit.cache, configuration: .ephemeral)
    let value = try await other.value(
      of: Person.self, from: kit.origin.url("/"), cachePolicy: .networkElseCache())
    #expect(value.value.name == "Ann" && value.date != nil)
  }

  @Test func anErrorPageIsNoValue() async throws {
    let kit = try Kit { _ in .text("{}", status: 500) }
    await #expect(throws: UnexpectedStatus.self) {
      _ = try await kit.session.value(of: Person.self, from: kit.origin.url("/"))
    }
  }

  @Test func map() {
    let date = Date(timeIntervalSince1970: 5)
    #expect(CachedValue.fresh(2).map { $0 + 1 } == .fresh(3))
    #expect(CachedValue.cached(2, date).map { "\($0)" } == .cached("2", date))
    #expect(CachedValue.cached(2, date).date == date)
    #expect(CachedValue.fresh(2).date == nil)
  }
}
