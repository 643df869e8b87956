import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import Hummingbird
import NIOHTTP1
import ServerTesting

/// A server, and a client that asks it through a cache with a clock that stands still.
struct CachedOrigin: Sendable {
  // The current time, because the server sends it in `Date`.
  let clock = ManualClock(now: SystemClock().now)
  let cache: HTTPCache
  let client: CachedHTTPClient
  let server: TestServer

  /// Runs `body` with a server that has these routes.
  static func run<Result: Sendable>(
    _ routes: Routes, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
    redirectLimit: Int = 20, _ body: @escaping @Sendable (CachedOrigin) async throws -> Result
  ) async throws -> Result {
    try await TestServer.run(routes.buildResponder()) { server async throws in
      let origin = CachedOrigin(server, configuration, redirectLimit)
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body(origin)) } catch { result = .failure(error) }
      try await origin.client.shutdown()
      return try result.get()
    }
  }

  private init(_ server: TestServer, _ configuration: HTTPClient.Configuration, _ redirectLimit: Int) {
    cache = HTTPCache(
      configuration: HTTPCache.Configuration(clock: clock),
      store: MemoryStore(capacity: 64 << 20, clock: clock))
    var configuration = configuration
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 200
    client = CachedHTTPClient(
      cache: cache, configuration: configuration, redirectLimit: redirectLimit)
    self.server = server
  }

  /// A request to the server.
  func request(_ path: String, _ headers: [String: String] = [:]) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: server.base + path)
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
