#if AsyncHTTPClient
  public import AsyncHTTPClient
  import HTTPCacheNIO
  public import HTTPCaching
  public import Logging
  public import NIOCore
  import NIOHTTP1
  public import ServiceLifecycle

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
      configuration.failConnectionErrors()
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
    /// needs `failInvalidStatus()` and `failConnectionErrors()` in its configuration.
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
    /// - Parameters:
    ///   - cache: the cache.
    ///   - configuration: the configuration of the client.
    ///   - isolation: the actor that `body` runs on, by default the caller's.
    ///   - body: uses the client.
    /// - Throws: what `body` throws, or the error of shutting down.
    public static func withClient<Result>(
      cache: HTTPCache, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
      isolation: isolated (any Actor)? = #isolation, _ body: (CachedHTTPClient) async throws -> Result
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

  extension CachedHTTPClient {
    /// The longest time after its deadline at which a request ends: the cache, which may answer with a stale
    /// response, goes first.
    private static let grace = TimeAmount.milliseconds(200)

    /// Performs a request: from the store if RFC 9111 and the policy allow it, otherwise by asking the origin.
    ///
    /// - Parameters:
    ///   - request: with an absolute URL. A request with its own TLS configuration or `Host` bypasses the
    ///     cache, because another origin may answer it.
    ///   - deadline: the time by which the head of the response must arrive; the body may take longer.
    ///   - logger: the logger of AsyncHTTPClient.
    ///   - cachePolicy: how to use the cache.
    ///   - partition: separates accounts or sites (RFC 9111 §7.2); empty for responses that all callers share.
    /// - Returns: the response with its unread body.
    /// - Throws: what `HTTPClient` throws, if the origin had to be asked, failed, and nothing stored may
    ///   answer; `UpstreamError` for a failure without an error of `HTTPClient`; `CacheOnlyMiss` for a miss
    ///   with the policy `.cacheOnly`; `CancellationError`.
    public func execute(
      _ request: HTTPClientRequest, deadline: NIODeadline, logger: Logger? = nil,
      cachePolicy: CachePolicy = .standard, partition: String = ""
    ) async throws -> CachedHTTPClientResponse {
      guard let head = HTTPRequest(request) else {
        return try await executeUncached(request, deadline: deadline, logger: logger)
      }
      var context = AsyncHTTPClientUpstream.Context(
        deadline: deadline, logger: logger, tlsConfiguration: request.tlsConfiguration,
        localAddress: request.localAddress)
      context.content = request.body
      var options = RequestOptions(
        partition: partition, redirectLimit: redirectLimit,
        // Without decompression, callers decode bodies themselves; with it, they cannot.
        bodyForms: upstream.isDecompressing ? .decoded : .any, timeout: Self.timeout(until: deadline),
        context: context)
      // In a shared cache the rules of RFC 9111 §3.5 and §5.2.2.7 protect accounts from each other.
      options.separatesCredentials = !hasOneAccount && cache.configuration.rules.mode == .private
      let policy = request.tlsConfiguration != nil ? .bypass : cachePolicy
      // A hit in memory needs neither a task nor a timer. Redirects are followed through the cache below.
      if policy == .standard, request.body == nil, !Task.isCancelled, deadline > .now(),
        let hit = cache.peek(head, options: options, where: { $0.status.kind != .redirection })
      {
        return CachedHTTPClientResponse(hit, to: request)
      }
      guard CacheKey.target(of: head) != nil else {
        return try await executeUncached(request, deadline: deadline, logger: logger)
      }
      let response: CacheResponse
      do {
        response = try await upstream.client.eventLoopGroup.any().limited(
          timeLeft: { deadline + Self.grace - NIODeadline.now() }
        ) { [cache, upstream, options] in
          try await cache.respond(
            to: head, body: request.body.map { MessageBody(BufferSource($0, length: nil)) },
            policy: policy, options: options, via: upstream)
        }
      } catch let error as UpstreamError {
        // A follower whose time ran out has no cause.
        if error.cause == nil, error.kind == .timeout { throw HTTPClientError.deadlineExceeded }
        if error.kind == .cancelled, Task.isCancelled { throw CancellationError() }
        throw error.cause ?? error
      }
      if case .unsatisfiable(let reason) = response.outcome, case .cacheOnly = cachePolicy {
        throw CacheOnlyMiss(reason: reason)
      }
      return CachedHTTPClientResponse(response, to: request)
    }

    /// Performs a request.
    ///
    /// - Parameters:
    ///   - request: with an absolute URL.
    ///   - timeout: the longest time until the head of the response has arrived.
    ///   - logger: the logger of AsyncHTTPClient.
    ///   - cachePolicy: how to use the cache.
    ///   - partition: separates accounts or sites (RFC 9111 §7.2); empty for responses that all callers share.
    /// - Throws: as `execute(_:deadline:logger:cachePolicy:partition:)` does.
    public func execute(
      _ request: HTTPClientRequest, timeout: TimeAmount, logger: Logger? = nil,
      cachePolicy: CachePolicy = .standard, partition: String = ""
    ) async throws -> CachedHTTPClientResponse {
      try await execute(
        request, deadline: .now() + timeout, logger: logger, cachePolicy: cachePolicy,
        partition: partition)
    }

    /// Gets a URL.
    ///
    /// - Parameters:
    ///   - url: an absolute URL.
    ///   - timeout: the longest time until the head of the response has arrived.
    ///   - cachePolicy: how to use the cache.
    ///   - partition: separates accounts or sites (RFC 9111 §7.2); empty for responses that all callers share.
    /// - Throws: as `execute(_:deadline:logger:cachePolicy:partition:)` does.
    public func get(
      url: String, timeout: TimeAmount = .seconds(60), cachePolicy: CachePolicy = .standard,
      partition: String = ""
    ) async throws -> CachedHTTPClientResponse {
      try await execute(
        HTTPClientRequest(url: url), timeout: timeout, cachePolicy: cachePolicy, partition: partition)
    }

    /// Performs a request that has no cache key, for example over a Unix domain socket.
    private func executeUncached(
      _ request: HTTPClientRequest, deadline: NIODeadline, logger: Logger?
    ) async throws -> CachedHTTPClientResponse {
      let response: HTTPClientResponse
      do {
        response = try await upstream.client.execute(request, deadline: deadline, logger: logger)
      } catch let error as HTTPClientError where error == .cancelled && Task.isCancelled {
        throw CancellationError()
      }
      return CachedHTTPClientResponse(
        response: response,
        cacheOutcome: .forwarded(
          .miss(.policy(.bypass)), status: Int(response.status.code),
          storage: .doNotStore(.policy), collapsed: false),
        redirects: [])
    }

    /// The time left until a deadline; nil if it is more than a year away.
    private static func timeout(until deadline: NIODeadline) -> Duration? {
      let now = NIODeadline.now()
      guard deadline < now + .hours(24 * 365) else { return nil }
      return .nanoseconds((deadline - now).nanoseconds)
    }
  }

  extension CachedHTTPClient: Service {
    /// Waits for the graceful shutdown of its service group, or until its task is cancelled, and then calls
    /// `shutdown(within:)`. The cache stays open: other clients may use it.
    ///
    /// ```swift
    /// let app = Application(responder: responder, services: [client])
    /// ```
    ///
    /// A group ends its services in reverse order: name the client before the services that use it. Hummingbird ends
    /// its server first.
    ///
    /// - Throws: as `shutdown(within:)`.
    public func run() async throws {
      do { try await gracefulShutdown() } catch {
        // A cancelled task shuts the client down, too.
      }
      try await shutdown()
    }
  }
#endif
