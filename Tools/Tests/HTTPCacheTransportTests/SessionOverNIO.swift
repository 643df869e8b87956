import AsyncHTTPClient
import Foundation
import HTTPCacheAsyncHTTPClient
import HTTPCacheURLSession
import HTTPCaching
import Hummingbird
import ServerTesting

/// A `CachedURLSession` over NIO's transport.
struct SessionOverNIO: Sendable {
  let cache: HTTPCache
  let session: CachedURLSession

  /// Runs `body` with a session.
  @discardableResult
  static func run<Result: Sendable>(
    _ configuration: URLSessionConfiguration = .ephemeral,
    delegate: (any URLSessionDelegate)? = nil, rules: CacheRules = CacheRules(),
    _ body: (SessionOverNIO) async throws -> Result
  ) async throws -> Result {
    // Decodes gzip and deflate.
    var settings = HTTPClient.Configuration.singletonConfiguration
    settings.redirectConfiguration = .disallow
    settings.connectionPool.retryConnectionEstablishment = false
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    let cache = try HTTPCache.open(HTTPCache.Configuration(rules: rules))
    let nio = SessionOverNIO(
      cache: cache,
      session: CachedURLSession(
        cache: cache, via: AsyncHTTPClientUpstream(client: client, isDecompressing: true),
        configuration: configuration, delegate: delegate))
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(nio)) } catch { result = .failure(error) }
    await cache.finishBackgroundWork(within: .seconds(5))
    try await client.shutdown()
    return try result.get()
  }

  /// Loads a URL.
  func get(_ url: String) async throws -> (text: String, response: HTTPURLResponse) {
    let (data, response) = try await session.data(for: request(url))
    guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return (String(decoding: data, as: UTF8.self), response)
  }

  func request(_ url: String) throws -> URLRequest {
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    return URLRequest(url: url)
  }
}

/// The code of the `URLError` that `work` throws; nil if it throws none.
func urlErrorCode(_ work: () async throws -> Void) async -> URLError.Code? {
  do {
    try await work()
    return nil
  } catch {
    return (error as? URLError)?.code
  }
}
