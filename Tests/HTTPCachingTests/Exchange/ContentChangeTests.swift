import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite(
  "What an answer tells of its content: changed or not, from where, since when", .timeLimit(.minutes(10)))
struct ContentChangeTests {
  private let test = TestCache()

  private func change(
    _ fields: HTTPFields = [:], policy: CachePolicy = .standard, method: HTTPRequest.Method = .get
  ) async throws -> ContentChange {
    let response = try await test.respond("/", fields, method: method, policy: policy)
    _ = try await response.body.collect()
    return response.contentChange
  }

  private let tagged: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"a\""]

  @Test("nothing stored before: first seen; a hit and a 304: unchanged")
  func unchanged() async throws {
    test.origin.always(200, tagged, "one")
    #expect(try await change() == .firstSeen)
    #expect(try await change() == .unchanged)
    test.clock.advance(by: 20)
    test.origin.always(304, tagged, "")
    #expect(try await change() == .unchanged)
  }

  @Test("the strong validator tells, for a reload too")
  func validators() async throws {
    test.origin.always(200, tagged, "one")
    #expect(try await change() == .firstSeen)
    #expect(try await change(policy: .reload) == .unchanged)
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"b\""], "two")
    #expect(try await change(policy: .reload) == .changed)
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "W/\"b\""], "two")
    #expect(try await change(policy: .reload) == .unknown)
  }

  @Test("a different digest tells that it changed; an equal one tells nothing")
  func digests() async throws {
    let name = try #require(HTTPField.Name("Repr-Digest"))
    let one = "sha-256=:dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=:"
    let two = "sha-256=:P8TM/nRYcOLA2Z9x8w/wZWyN7dQcwdfT03aw2+aF4vM=:"
    test.origin.always(200, [.cacheControl: "max-age=10", name: one], "one")
    #expect(try await change() == .firstSeen)
    #expect(try await change(policy: .reload) == .unknown)
    test.origin.always(200, [.cacheControl: "max-age=10", name: two], "two")
    #expect(try await change(policy: .reload) == .changed)
  }

  @Test("bypass, unsafe methods and a failed store: unknown")
  func unknown() async throws {
    try await test.store(tagged, "one")
    #expect(try await change(policy: .bypass) == .unknown)
    #expect(try await change(method: .post) == .unknown)
  }

  @Test("a representation that is stored for other values of Vary is known")
  func variants() async throws {
    let fields: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"a\"", .vary: "Accept"]
    test.origin.always(200, fields, "one")
    #expect(try await change([.accept: "text/plain"]) == .firstSeen)
    #expect(try await change([.accept: "text/html"], policy: .reload) == .unchanged)
    test.origin.always(
      200, [.cacheControl: "max-age=10", .eTag: "\"b\"", .vary: "Accept"], "two")
    #expect(try await change([.accept: "image/png"]) == .firstSeen)
  }

  @Test("fetchType and storedAt say where it came from and since when")
  func knowing() async throws {
    test.origin.always(200, tagged, "one")
    let first = try await test.respond("/")
    _ = try await first.body.collect()
    #expect(first.outcome.fetchType == .networkLoad)
    #expect(first.storedAt == nil)
    test.clock.advance(by: 5)
    #expect(test.cache.peek(test.request("/"))?.storedAt == Timestamp(seconds: 1_700_000_000))
    test.clock.advance(by: 15)
    test.origin.always(304, tagged, "")
    let confirmed = try await test.respond("/")
    #expect(confirmed.outcome.fetchType == .validated)
    #expect(confirmed.storedAt == Timestamp(seconds: 1_700_000_020))
    let refused = try await test.respond("/other", policy: .cacheOnly)
    #expect(refused.outcome.fetchType == nil)
  }
}
