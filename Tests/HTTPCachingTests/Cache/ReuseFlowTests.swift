import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("What is answered from the store, and what is not (RFC 9111 §4)", .timeLimit(.minutes(10)))
struct ReuseFlowTests {
  private let test = TestCache()
  private let hour: HTTPFields = [.cacheControl: "max-age=3600", .eTag: "\"1\""]

  @Test("the answer to HEAD from a stored 204 has no Content-Length (RFC 9110 §8.6)")
  func headOfNoContent() async throws {
    test.origin.always(204, hour, "")
    try await test.get("/")
    let answer = try await test.get("/", method: .head)
    #expect(answer.status == 204 && answer.head.headerFields[.contentLength] == nil)
    #expect(test.origin.requests.count == 1)
  }

  // holds 9111-4-1
  @Test("another path, query, scheme or authority is another target")
  func targets() async throws {
    test.origin.answers { [hour] _, number in (200, hour, "\(number)") }
    func text(_ scheme: String, _ authority: String, _ path: String) async throws -> String {
      let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
      let response = try await test.cache.respond(to: request, via: test.origin)
      return String(decoding: try await response.body.collect().array, as: UTF8.self)
    }
    let targets = [
      ("https", "a.b", "/"), ("https", "a.b", "/x"), ("https", "a.b", "/X"), ("https", "a.b", "/?"),
      ("https", "a.b", "/?x"), ("https", "a.b:444", "/"), ("http", "a.b", "/"), ("https", "c.b", "/"),
    ]
    for _ in 0..<2 {
      for (index, target) in targets.enumerated() {
        #expect(try await text(target.0, target.1, target.2) == "\(index + 1)")
      }
    }
  }

  // holds 9111-4-7
  @Test(
    "an unsafe request is written through, whatever is stored",
    arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH"])
  func writtenThrough(name: String) async throws {
    let method = try #require(HTTPRequest.Method(name))
    try await test.store(hour, "stored")
    test.origin.always(202, hour, "done")
    for policy in [CachePolicy.standard, .cacheElseNetwork] {
      let answer = try await test.get("/", method: method, policy: policy)
      #expect(answer.status == 202)
      #expect(answer.text == "done")
    }
    #expect(test.origin.requests.map(\.method) == [.get, method, method])
  }

  // holds 9110-9.3.3-1
  @Test("POST: its answer, stored under an explicit lifetime and Content-Location, answers GET only")
  func post() async throws {
    test.origin.always(200, [.cacheControl: "max-age=60", .contentLocation: "/form"], "made")
    try await test.get("/form", method: .post)
    #expect(try await test.get("/form").text == "made")
    #expect(test.origin.requests.count == 1)
    try await test.get("/form", method: .post)
    #expect(test.origin.requests.count == 2)
  }

  // holds 9111-5.2-1, 9213-2.2-4
  @Test("directives pass through, known or not, there and back, from the origin and the store")
  func directivesPass() async throws {
    let targeted = try #require(HTTPField.Name("CDN-Cache-Control"))
    let said = "no-transform, max-age=60, foo=\"b, ar\", community=\"UCI\""
    test.origin.always(200, [.cacheControl: said, targeted: "max-age=1, foo"], "body")
    let asked = "max-stale=5, min-fresh=0, bar"
    for _ in 0..<2 {
      let answer = try await test.get("/", [.cacheControl: asked])
      #expect(answer.head.headerFields[.cacheControl] == said)
      #expect(answer.head.headerFields[targeted] == "max-age=1, foo")
    }
    #expect(test.origin.requests.map { $0.headerFields[.cacheControl] } == [asked])
  }

  // holds 9111-5.2.2.6-1
  @Test("content is passed on and stored as it came, in its coding")
  func notTransformed() async throws {
    let octets = (0...255).map { UInt8($0) }
    let fields: HTTPFields = [
      .cacheControl: "max-age=60, no-transform", .contentEncoding: "gzip", .contentType: "text/x",
    ]
    test.origin.streams(fields) { _ in TestBody(piece: octets, count: 2) }
    for _ in 0..<2 {
      let response = try await test.respond("/", [.acceptEncoding: "identity"])
      #expect(response.head.headerFields[.contentEncoding] == "gzip")
      #expect(response.head.headerFields[.contentType] == "text/x")
      #expect(try await response.body.collect().array == octets + octets)
    }
    #expect(test.origin.requests.count == 1)
  }

  // holds 9111-5.2.1.7-1
  @Test("only-if-cached: what is stored, or 504, and the origin is not asked")
  func onlyIfCached() async throws {
    test.origin.always(200, [.cacheControl: "max-age=60", .vary: "Accept"], "stored")
    let only: HTTPFields = [.cacheControl: "only-if-cached"]
    #expect(try await test.get("/", only).status == 504)
    #expect(test.origin.requests.isEmpty)
    try await test.get("/")
    #expect(try await test.get("/", only).text == "stored")
    let other: HTTPFields = [.cacheControl: "only-if-cached", .accept: "x/y"]
    #expect(try await test.get("/", other).status == 504)
    test.clock.advance(by: 60)
    #expect(try await test.get("/", only).status == 504)
    #expect(test.origin.requests.count == 1)
  }

  @Test("the 504 to only-if-cached says why; to HEAD it has the length alone")
  func onlyIfCachedText() async throws {
    let only: HTTPFields = [.cacheControl: "only-if-cached"]
    let refused = try await test.get("/", only)
    #expect(
      refused.text
        == "504 Gateway Timeout: asking the origin is forbidden, and nothing stored (RFC 9111 §5.2.1.7)\n")
    #expect(refused.head.headerFields[.contentType] == "text/plain; charset=utf-8")
    #expect(refused.head.headerFields[.contentLength] == "\(refused.text.utf8.count)")
    let head = try await test.get("/", only, method: .head)
    #expect(head.status == 504 && head.text.isEmpty)
    #expect(head.head.headerFields[.contentLength] == "\(refused.text.utf8.count)")
    try await test.store([.cacheControl: "max-age=60"], "stored", age: 60)
    #expect(try await test.get("/", only).text.contains("and the response is stale"))
  }

  // holds 9111-4-7
  @Test("only-if-cached does not keep an unsafe request from the origin, the caller's policy does")
  func unsafeOnlyIfCached() async throws {
    test.origin.always(201, [:], "")
    let only: HTTPFields = [.cacheControl: "only-if-cached"]
    #expect(try await test.get("/", only, method: .post).status == 201)
    #expect(test.origin.requests.count == 1)
    #expect(try await test.get("/", method: .put, policy: .cacheOnly).status == 504)
    #expect(test.origin.requests.count == 1)
  }

  // holds 9111-5.2.1.5-1, 9111-5.2.1.5-3, 9111-5.2.2.5-1, 9111-5.2.2.5-2, 9111-5.2.2.5-4
  @Test(
    "no-store, in the response or the request: nothing is left of it",
    arguments: [("max-age=60, no-store", ""), ("max-age=60", "no-store")])
  func noStore(response: String, request: String) async throws {
    test.origin.answers { _, number in (200, [.cacheControl: response, .vary: "Foo"], "\(number)") }
    let foo = try #require(HTTPField.Name("Foo"))
    let first = try await test.get("/", [.cacheControl: request, foo: "secret"])
    #expect(first.text == "1")
    let entries = try await test.cache.store.entries(.all, after: nil, limit: 10).entries
    #expect(entries.isEmpty)
    #expect(test.cache.store.usage.memoryBytes == 0)
    #expect(try await test.get("/", [foo: "secret"]).text == "2")
  }

  // holds 9111-5.2.1.5-2, 9111-5.2.2.5-3
  @Test(
    "no-store: not one byte of it gets onto the disk",
    arguments: [("max-age=60, no-store", ""), ("max-age=60", "no-store")], [10, 300_000])
  func noStoreOnDisk(directives: (response: String, request: String), size: Int) async throws {
    let folder = try ScratchFolder()
    let cache = try HTTPCache.open(
      HTTPCache.Configuration(
        directory: folder.path("cache"), memoryCapacity: 0, diskCapacity: 64 << 20, clock: test.clock))
    let mark = "not to be kept"
    let body = String(repeating: mark, count: size)
    func leftovers() throws -> Int {
      let files = try #require(
        FileManager.default.enumerator(at: folder.url, includingPropertiesForKeys: nil))
      return files.compactMap { $0 as? URL }.compactMap { try? Data(contentsOf: $0) }
        .filter { $0.range(of: Data(mark.utf8)) != nil }.count
    }
    test.origin.always(200, [.cacheControl: directives.response, .xN: mark], body)
    let request = test.request("/", [.cacheControl: directives.request, .userAgent: mark])
    let answer = try await cache.respond(to: request, via: test.origin)
    #expect(try await answer.body.collect().count == body.utf8.count)
    await cache.store.flush()
    #expect(try leftovers() == 0)
    test.origin.always(200, [.cacheControl: "max-age=60", .xN: mark], body)
    let kept = try await cache.respond(to: test.request("/"), via: test.origin)
    _ = try await kept.body.collect()
    await cache.store.flush()
    #expect(try leftovers() > 0, "what may be kept is found in this way")
  }

  // holds 9111-5.2.2.5-2
  @Test("a response with no-store does not answer requests that came while it was under way")
  func noStoreUnderWay() async throws {
    let gate = Gate()
    test.origin.streams([.cacheControl: "no-store, max-age=60"]) { _ in
      TestBody(piece: [65], count: 2, gate: (at: 1, gate: gate))
    }
    let first = try await test.respond("/")
    test.origin.always(200, [.cacheControl: "max-age=60"], "other")
    #expect(try await test.get("/").text == "other")
    gate.open()
    #expect(try await first.body.collect().array == [65, 65])
  }

  // holds 9111-4-6, 5861-4-2
  @Test("a stale response shows its age")
  func staleAge() async throws {
    try await test.store([.cacheControl: "max-age=10, stale-if-error=60"], "old", age: 20)
    test.origin.always(503, [:], "busy")
    #expect(try await test.get("/").head.headerFields[values: .age] == ["20"])
    test.origin.fails(.unreachable)
    #expect(try await test.get("/").head.headerFields[values: .age] == ["20"])
  }
}
