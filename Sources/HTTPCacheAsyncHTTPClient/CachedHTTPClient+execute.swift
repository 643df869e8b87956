#if AsyncHTTPClient
  public import AsyncHTTPClient
  import HTTPCacheNIO
  public import HTTPCaching
  public import Logging
  public import NIOCore
  import NIOHTTP1

  extension CachedHTTPClient {
    /// How much later than at its deadline a request ends, whatever it waits for: the cache, which may answer
    /// with a stale response, goes first.
    private static let grace = TimeAmount.milliseconds(200)

    /// Performs a request: from the store if RFC 9111 and the policy allow it, else by asking the
    /// origin.
    ///
    /// - Parameters:
    ///   - request: with an absolute URL. One with a TLS configuration or a `Host` of its own passes
    ///     the cache by, since another origin may answer it.
    ///   - deadline: when the head of the response must be there; the body may take longer.
    ///   - logger: where AsyncHTTPClient logs.
    ///   - cachePolicy: how to use the cache.
    ///   - partition: keeps accounts or sites apart (RFC 9111 §7.2); empty for everybody.
    /// - Returns: the response, whose body has yet to be read.
    /// - Throws: what `HTTPClient` throws, if the origin had to be asked, failed, and nothing stored may
    ///   answer; `UpstreamError` for a failure that `HTTPClient` has no error for; `CacheOnlyMiss` for
    ///   a miss with the policy `.cacheOnly`; `CancellationError`.
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
      let options = RequestOptions(
        partition: partition, redirectLimit: redirectLimit, acceptsDecoded: true,
        // Nobody would decode what is stored as it came.
        acceptsEncoded: !upstream.isDecompressing, timeout: Self.timeout(until: deadline),
        context: context)
      let bypasses = request.tlsConfiguration != nil || head.hasHostOfItsOwn
      let policy = bypasses ? .bypass : cachePolicy
      let response: CacheResponse
      do {
        response = try await within(deadline) { [cache, upstream] in
          try await cache.respond(
            to: head, body: request.body.map { MessageBody(BufferSource($0, length: nil)) },
            policy: policy, options: options, via: upstream)
        }
      } catch let error as UpstreamError {
        // A request that waited for another one's answer in vain has no cause.
        if error.cause == nil, error.kind == .timeout { throw HTTPClientError.deadlineExceeded }
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
    ///   - timeout: the most time until the head of the response is there.
    ///   - logger: where AsyncHTTPClient logs.
    ///   - cachePolicy: how to use the cache.
    ///   - partition: keeps accounts or sites apart (RFC 9111 §7.2); empty for everybody.
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
    ///   - url: absolute.
    ///   - timeout: the most time until the head of the response is there.
    ///   - cachePolicy: how to use the cache.
    /// - Throws: as `execute(_:deadline:logger:cachePolicy:partition:)` does.
    public func get(
      url: String, timeout: TimeAmount = .seconds(60), cachePolicy: CachePolicy = .standard
    ) async throws -> CachedHTTPClientResponse {
      try await execute(HTTPClientRequest(url: url), timeout: timeout, cachePolicy: cachePolicy)
    }

    /// What no cache key can be made for, such as a request over a socket of the file system.
    private func executeUncached(
      _ request: HTTPClientRequest, deadline: NIODeadline, logger: Logger?
    ) async throws -> CachedHTTPClientResponse {
      let response = try await upstream.client.execute(request, deadline: deadline, logger: logger)
      return CachedHTTPClientResponse(
        response: response,
        cacheOutcome: .forwarded(
          .miss(.policy(.bypass)), status: Int(response.status.code),
          storage: .doNotStore(.policy), collapsed: false),
        redirects: [])
    }

    /// The time left until a deadline; nil for one that is further than a year away.
    private static func timeout(until deadline: NIODeadline) -> Duration? {
      let now = NIODeadline.now()
      guard deadline < now + .hours(24 * 365) else { return nil }
      return .nanoseconds((deadline - now).nanoseconds)
    }

    /// Ends `body` at the deadline, as `HTTPClient` would.
    private func within(
      _ deadline: NIODeadline, _ body: @escaping @Sendable () async throws -> CacheResponse
    ) async throws -> CacheResponse {
      let work = Task { try await body() }
      let alarm = DeadlineAlarm(deadline + Self.grace, on: upstream.client.eventLoopGroup.any()) {
        work.cancel()
      }
      defer { alarm.cancel() }
      do {
        return try await withTaskCancellationHandler {
          try await work.value
        } onCancel: {
          work.cancel()
        }
      } catch {
        if alarm.hasPassed, !Task.isCancelled { throw HTTPClientError.deadlineExceeded }
        throw error
      }
    }
  }
#endif
