#if AsyncHTTPClient
  public import AsyncHTTPClient
  public import HTTPCaching
  public import Logging
  public import NIOCore

  /// AsyncHTTPClient with a cache in front of it: `execute` as `HTTPClient` has it, answered from the
  /// store where RFC 9111 allows.
  ///
  /// ```swift
  /// let client = CachedHTTPClient(cache: cache)
  /// let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
  /// print(response.status, response.cacheOutcome)
  /// try await client.shutdown()
  /// ```
  ///
  /// Redirects are followed through the cache, whatever the client's configuration says of them.
  public final class CachedHTTPClient: Sendable {
    /// What answers.
    public let cache: HTTPCache
    /// What asks the origin.
    public let upstream: AsyncHTTPClientUpstream
    /// The most redirects to follow; 0 hands them to the caller.
    public let redirectLimit: Int
    private let ownsClient: Bool

    /// Makes a client of its own, which `shutdown()` closes.
    ///
    /// - Parameters:
    ///   - cache: answers what it can.
    ///   - configuration: of the client. Its redirect mode is not used. With `decompression`, bodies
    ///     are stored decoded and ranges of them are not reused; without, as the origin sent them.
    ///   - eventLoopGroup: where connections run.
    ///   - redirectLimit: the most redirects to follow; 0 hands them to the caller.
    ///   - backgroundActivityLogger: where the client logs what it does for no request in particular.
    public init(
      cache: HTTPCache, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
      eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
      redirectLimit: Int = 20, backgroundActivityLogger: Logger? = nil
    ) {
      var configuration = configuration
      configuration.redirectConfiguration = .disallow
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
      upstream = AsyncHTTPClientUpstream(client: client, isDecompressing: isDecompressing)
      self.redirectLimit = redirectLimit
      ownsClient = true
    }

    /// Uses a client of the caller's, which stays the caller's to shut down.
    ///
    /// A client that follows redirects by itself, as `HTTPClient.shared` does, asks twice for the
    /// target of each redirect; one with `redirectConfiguration` `.disallow` does not.
    ///
    /// - Parameters:
    ///   - cache: answers what it can.
    ///   - client: asks the origin.
    ///   - isDecompressing: whether the client was made with `decompression`; that `HTTPClient.shared`
    ///     was is known.
    ///   - redirectLimit: the most redirects to follow; 0 hands them to the caller.
    public init(
      cache: HTTPCache, sharing client: HTTPClient, isDecompressing: Bool = false,
      redirectLimit: Int = 20
    ) {
      self.cache = cache
      upstream = AsyncHTTPClientUpstream(client: client, isDecompressing: isDecompressing)
      self.redirectLimit = redirectLimit
      ownsClient = false
    }

    /// Runs `body` with a client of its own and shuts it down afterwards.
    ///
    /// - Throws: what `body` throws, or what fails in shutting down.
    public static func withClient<Result>(
      cache: HTTPCache, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
      _ body: (CachedHTTPClient) async throws -> Result
    ) async throws -> Result {
      let client = CachedHTTPClient(cache: cache, configuration: configuration)
      let result: Result
      do {
        result = try await body(client)
      } catch {
        // The body's error is the one to tell.
        try? await client.shutdown()
        throw error
      }
      try await client.shutdown()
      return result
    }

    /// Ends what runs in the background, writes what is batched, and closes the client if it is this
    /// one's own.
    ///
    /// - Parameter limit: the longest time to wait for validations in the background (RFC 5861 §3).
    /// - Throws: `HTTPClientError.alreadyShutdown`, or what fails in closing connections.
    public func shutdown(within limit: Duration = .seconds(5)) async throws {
      await cache.finishBackgroundWork(within: limit)
      await cache.flush()
      if ownsClient { try await upstream.client.shutdown() }
    }
  }
#endif
