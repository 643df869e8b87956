import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Testing

/// Changes of the store while a request waits for the origin.
@Suite(.timeLimit(.minutes(5)))
struct MeanwhileTests {
  private let test = TestCache()
  private let fresh: HTTPFields = [.cacheControl: "max-age=60"]

  @Test("§4.2.4 an origin that fails is stood in for by what is stored now, not by what was stored before")
  func fallback() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"1\""], "one", age: 20)
    test.origin.hold()
    async let waiting = test.get("/")
    await test.origin.arrived(2)
    let other = TestOrigin()
    other.always(200, [.cacheControl: "max-age=10", .eTag: "\"2\""], "two")
    let new = try await test.cache.respond(to: test.request("/"), policy: .reload, via: other)
    _ = try await new.body.collect()
    test.origin.fails(.unreachable)
    test.origin.release()
    #expect(try await waiting.text == "two")
  }

  @Test("§3.3 a part of a response that broke off leaves the complete one that it would have replaced")
  func part() async throws {
    test.origin.always(200, fresh, "whole")
    try await test.get("/", [.acceptLanguage: "en"])
    test.clock.advance(by: 100)
    var fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"2\"", .vary: "Accept-Language"]
    fields[.acceptRanges] = "bytes"
    test.origin.streams(fields) { _ in
      TestBody(piece: [UInt8](repeating: 65, count: 100_000), count: 3, announced: 300_000, failsAt: 2)
    }
    await #expect(throws: UpstreamError.self) { try await test.get("/", [.acceptLanguage: "en"]) }
    test.origin.fails(.unreachable)
    #expect(try await test.get("/", [.acceptLanguage: "en"]).text == "whole")
  }

  @Test("of two answers the second is told from what the first one was, not from what is stored by then")
  func storedThenNew() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"1\""], "one", age: 20)
    var answers = test.cache.responses(to: test.request("/"), policy: .revalidate, via: test.origin)
      .makeAsyncIterator()
    let first = try #require(try await answers.next())
    #expect(first.head.headerFields[.eTag] == "\"1\"")
    // Another request stores a newer response, which the origin then confirms.
    test.origin.always(200, [.cacheControl: "max-age=10", .eTag: "\"2\""], "two")
    try await test.get("/", policy: .reload)
    test.origin.always(304, [.eTag: "\"2\""], "")
    let second = try #require(try await answers.next())
    #expect(String(decoding: try await second.body.collect().array, as: UTF8.self) == "two")
    #expect(try await answers.next() == nil)
  }

  @Test(
    "nothing is stored of an account that was wiped while its response was with the hook, neither the response nor a name",
    arguments: [false, true], [false, true])
  func wiped(byAnotherStore isOther: Bool, isNamed: Bool) async throws {
    let gate = Gate()
    let directory = try SealedDirectory()
    let disk = try directory.disk()
    let test = TestCache(
      rules: CacheRules(obeysNoVarySearch: true), store: disk,
      configure: {
        $0.willStore = StoringHook { _, proposal in
          try await gate.pass()
          return proposal
        }
      })
    var fields = fresh
    if isNamed { fields[.noVarySearch] = "key-order" }
    test.origin.always(200, fields, "secret-of-account")
    let options = RequestOptions(partition: "account")
    async let waiting = test.get("/?z=secret-of-account&a", options: options)
    await gate.waitForArrivals(1)
    // As another process does, of which this one only learns through the directory.
    let other = isOther ? try directory.disk() : nil
    if let other {
      try await other.wipe(mode: .private, partition: "account")
    } else {
      try await test.cache.wipe(partition: "account")
    }
    gate.open()
    #expect(try await waiting.text == "secret-of-account")
    await test.cache.flush()
    #expect(disk.usage.diskEntries == 0)
    let told = test.events.count {
      switch $0 {
      case .storeFailed, .stored: true
      default: false
      }
    }
    #expect(told == 0)
    #expect(try test.cache.refusals(of: test.request("/?z=secret-of-account&a"), options: options).isEmpty)
    #expect(try directory.found(["secret-of-account"]).isEmpty)
  }
}
