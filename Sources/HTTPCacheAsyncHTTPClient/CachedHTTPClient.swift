#if AsyncHTTPClient
  public import AsyncHTTPClient
  public import HTTPCaching
  public import Logging
  public import NIOCore

  /// AsyncHTTPClient with a cache: `execute` as in `HTTPClient`, answered from the store where RFC 9111
  /// allows it.
  ///
  /// ```swift
  /// let client = CachedHTTPClient(cache: cache)
  /// let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
  /// print(response.status, response.cacheOutcome)
  /// try await client.shutdown()
  /// ```
  ///
  /// Redirects are followed through the cache, whatever the client's configuration says.
  ///
  /// A server sends requests for many users. So a private cache answers only requests with the same `Authorization` and
  /// `Cookie` (`CacheRules.separatesCredentials`), unless the client is told that all requests have one account.
  public final class CachedHTTPClient: Sendable {
    /// The cache that answers requests.
    public let cache: HTTPCache
    /// The upstream that asks the origin.
    public let upstream: AsyncHTTPClientUpstream
    /// The maximum number of redirects to follow; 0 returns redirects to the caller.
    public let redirectLimit: Int
    /// Whether a private cache may reuse a response for requests with other credentials.
    public let hasOneAccount: Bool
    private let ownsClient: Bool

    /// Makes a cached client with a new `HTTPClient`, which `shutdown()` closes.
    ///
    /// - Parameters:
    ///   - cache: the cache.
    ///   - configuration: the configuration of the client. Its redirect mode is not used. With
    ///     `decompression`, bodies are stored decoded and their ranges are not reused; without, bodies are
    ///     stored as the origin sent them.
    ///   - eventLoopGroup: the event loops of connections.
    ///   - redirectLimit: the maximum number of redirects to follow; 0 returns redirects to the caller.
    ///   - backgroundActivityLogger: the client's logger for activity outside of requests.
    ///   - hasOneAccount: whether a private cache may reuse a response for requests with other credentials.
    public init(
      cache: HTTPCache, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
      eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
      redirectLimit: Int = 20, backgroundActivityLogger: Logger? = nil, hasOneAccount: Bool = false
    ) {
      var configuration = configuration
      configuration.redirectConfiguration = .disallow
      configuration.failInvalidStatus()
      let client =
        if let backgroundActivityLogger {
          HTTPClient(
            eventLoopGroup: eventLoopGroup, configuration: configuration,
            backgroundActivityLogger: backgroundActivityLogger)
        } else {
          HTTPClient(eventLoopGroup: eventLoopGroup, configuration: configuration)
        }
      let isDecompressing =
        if case .enabled = configuration.decompression { true } else { false }
      self.cache = cache
      self.hasOneAccount = hasOneAccount
      upstream = AsyncHTTPClientUpstream(client: client, isDecompressing: isDecompressing)
      self.redirectLimit = redirectLimit
      ownsClient = true
    }

    /// Makes a cached client with an existing `HTTPClient`, which the caller has to shut down.
    ///
    /// A client that follows redirects itself, like `HTTPClient.shared`, requests the target of each redirect
    /// twice; a client with `redirectConfiguration` `.disallow` does not. A client for origins that are not trusted
    /// needs `failInvalidStatus()` in its configuration.
    ///
    /// - Parameters:
    ///   - cache: the cache.
    ///   - client: asks the origin.
    ///   - isDecompressing: whether the client was made with `decompression`; always true for
    ///     `HTTPClient.shared`.
    ///   - redirectLimit: the maximum number of redirects to follow; 0 returns redirects to the caller.
    ///   - hasOneAccount: whether a private cache may reuse a response for requests with other credentials.
    public init(
      cache: HTTPCache, sharing client: HTTPClient, isDecompressing: Bool = false,
      redirectLimit: Int = 20, hasOneAccount: Bool = false
    ) {
      self.cache = cache
      self.hasOneAccount = hasOneAccount
      upstream = AsyncHTTPClientUpstream(client: client, isDecompressing: isDecompressing)
      self.redirectLimit = redirectLimit
      ownsClient = false
    }

    /// Runs `body` with a new client and shuts it down afterwards.
    ///
    /// - Throws: what `body` throws, or the error of shutting down.
    public static func withClient<Result>(
      cache: HTTPCache, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
      _ body: (CachedHTTPClient) async throws -> Result
    ) async throws -> Result {
      let client = CachedHTTPClient(cache: cache, configuration: configuration)
      let result: Result
      do {
        result = try await body(client)
      } catch {
        // Throw the error of the body, not of the shutdown.
        try? await client.shutdown()
        throw error
      }
      try await client.shutdown()
      return result
    }

    /// Ends background work, writes batched changes, and closes the client if this object made it.
    ///
    /// - Parameter limit: the longest time to wait for background validations (RFC 5861 §3).
    /// - Throws: `HTTPClientError.alreadyShutdown`, or the error of closing connections.
    public func shutdown(within limit: Duration = .seconds(5)) async throws {
      await cache.finishBackgroundWork(within: limit)
      await cache.flush()
      if ownsClient { try await upstream.client.shutdown() }
    }
  }
#endif
