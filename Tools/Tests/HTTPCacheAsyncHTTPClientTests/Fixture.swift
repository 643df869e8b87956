import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOHTTP1
import ServerTesting

typealias Origin = Router<BasicRequestContext>

/// A cache with a clock that stands still, and a client in front of it.
struct Fixture: Sendable {
  // The current time, because the origin sends it in `Date`.
  let clock = ManualClock(now: SystemClock().now)
  let cache: HTTPCache
  let client: CachedHTTPClient
  let origin: TestServer

  /// Runs `body` with a server that has these routes.
  static func run<Result: Sendable>(
    _ routes: Origin, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
    redirectLimit: Int = 20, _ body: @escaping @Sendable (Fixture) async throws -> Result
  ) async throws -> Result {
    try await TestServer.run(routes.buildResponder()) { origin async throws in
      let fixture = Fixture(origin, configuration, redirectLimit)
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
      try await fixture.client.shutdown()
      return try result.get()
    }
  }

  private init(_ origin: TestServer, _ configuration: HTTPClient.Configuration, _ redirectLimit: Int) {
    cache = HTTPCache(
      configuration: HTTPCache.Configuration(clock: clock),
      store: MemoryStore(capacity: 64 << 20, clock: clock))
    var configuration = configuration
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 200
    client = CachedHTTPClient(
      cache: cache, configuration: configuration, redirectLimit: redirectLimit)
    self.origin = origin
  }

  /// A request to the origin.
  func request(_ path: String, _ headers: [String: String] = [:]) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: origin.base + path)
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    return request
  }

  /// Gets a path and reads the body.
  func get(
    _ path: String, _ headers: [String: String] = [:], policy: CachePolicy = .standard,
    partition: String = ""
  ) async throws -> (response: CachedHTTPClientResponse, body: String) {
    let response = try await client.execute(
      request(path, headers), timeout: .seconds(120), cachePolicy: policy, partition: partition)
    return (response, String(buffer: try await response.body.collect(upTo: 64 << 20)))
  }
}

extension CacheOutcome {
  /// Whether the answer came from the store without asking the origin.
  var isHit: Bool { if case .hit = self { true } else { false } }
}

/// A response with fields and a text.
func answer(
  _ text: String, _ fields: HTTPFields = [.cacheControl: "max-age=60"],
  status: HTTPResponse.Status = .ok
) -> Response {
  Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
}
