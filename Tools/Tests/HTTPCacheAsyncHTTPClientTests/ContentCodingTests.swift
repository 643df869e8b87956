import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOCore
import NIOHTTP1
import ServerTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ContentCodingTests {
  private static let text = "hello hello hello hello"
  private static let gzip: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 87, 200, 64, 39, 1, 227, 81, 61, 141, 23,
    0, 0, 0,
  ]

  private static func routes(_ calls: Counter) -> Routes {
    let routes = Routes()
    routes.get("a") { request, _ in
      calls.increment()
      let fields: HTTPFields = [
        .cacheControl: "max-age=60", .contentEncoding: "gzip", .eTag: "\"tag\"",
        .vary: "Accept-Encoding",
      ]
      return Response(
        status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: gzip)))
    }
    return routes
  }

  @Test("without decompression, the bytes and their coding are handed over as they came")
  func coded() async throws {
    let calls = Counter()
    try await CachedOrigin.run(Self.routes(calls)) { origin async throws in
      for _ in 0..<2 {
        let response = try await origin.client.execute(
          origin.request("/a", ["Accept-Encoding": "gzip"]), timeout: .seconds(120))
        #expect(response.headers.first(name: "Content-Encoding") == "gzip")
        let body = try await response.body.collect(upTo: 1_000)
        #expect(Array(body.readableBytesView) == Self.gzip)
      }
      #expect(calls.value == 1)
    }
  }

  @Test("with decompression, the text is handed over, from origin and store alike, and no coding is claimed")
  func decoded() async throws {
    let calls = Counter()
    let configuration = HTTPClient.Configuration.singletonConfiguration
    try await CachedOrigin.run(Self.routes(calls), configuration: configuration) { origin async throws in
      for isHit in [false, true] {
        let (response, body) = try await origin.get("/a")
        #expect(body == Self.text)
        #expect(response.cacheOutcome.isHit == isHit)
        #expect(response.headers.first(name: "Content-Encoding") == nil)
        #expect(response.headers.first(name: "Content-Length").map { $0 == "23" } ?? true)
      }
      #expect(calls.value == 1)
    }
  }

  @Test("an entry that was stored decoded is marked: a client that wants the coded bytes does not get it")
  func marked() async throws {
    let calls = Counter()
    let configuration = HTTPClient.Configuration.singletonConfiguration
    try await CachedOrigin.run(Self.routes(calls), configuration: configuration) { origin async throws in
      _ = try await origin.get("/a")
      let upstream = ScriptedUpstream([.init(body: "coded")])
      let request = HTTPRequest(
        method: .get, scheme: "http", authority: "127.0.0.1:\(origin.server.port)", path: "/a")
      let response = try await origin.cache.respond(to: request, via: upstream)
      #expect(!response.outcome.isHit)
      #expect(upstream.requestCount == 1)
    }
  }

  @Test("a client that decodes does not get an entry that another client stored coded")
  func storedCoded() async throws {
    let calls = Counter()
    try await CachedOrigin.run(Self.routes(calls)) { origin async throws in
      let request = origin.request("/a", ["Accept-Encoding": "gzip"])
      _ = try await origin.client.execute(request, timeout: .seconds(120)).body.collect(upTo: 1_000)
      let decoding = CachedHTTPClient(cache: origin.cache, sharing: .shared)
      for _ in 0..<2 {
        let response = try await decoding.execute(request, timeout: .seconds(120))
        #expect(String(buffer: try await response.body.collect(upTo: 1_000)) == Self.text)
        #expect(response.headers.first(name: "Content-Encoding") == nil)
      }
      #expect(calls.value == 2)
    }
  }
}
