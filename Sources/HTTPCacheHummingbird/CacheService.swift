#if Hummingbird
  public import HTTPCaching
  public import Hummingbird
  public import ServiceLifecycle
  import Synchronization

  /// A cache as a service of a server: validates in the background for a `CacheMiddleware` (RFC 5861 §3), and ends
  /// the cache in order when the server shuts down.
  ///
  /// ```swift
  /// let service = CacheService<BasicRequestContext>(cache)
  /// router.add(middleware: CacheMiddleware(cache, origin: .host(), service: service))
  /// let responder = router.buildResponder()
  /// service.validate(through: responder)
  /// let app = Application(responder: responder, services: [service])
  /// ```
  ///
  /// Hummingbird ends its server before its other services: so all requests have been answered when the cache ends.
  public final class CacheService<Context: RequestContext>: Service {
    typealias Respond = @Sendable (Request, Context) async throws -> Response

    private let cache: HTTPCache
    private let limit: Duration
    private let responder = Mutex<Respond?>(nil)

    /// Makes a service.
    ///
    /// - Parameters:
    ///   - cache: the cache of the middleware, or of a client.
    ///   - limit: the longest time that validations in the background may take after the server has ended.
    public init(_ cache: HTTPCache, finishingWithin limit: Duration = .seconds(10)) {
      self.cache = cache
      self.limit = limit
    }

    /// Validates in the background by asking a responder, which outlives requests. Before this call, a
    /// `CacheMiddleware` with this service validates a stale response before it is used.
    ///
    /// The middleware before `CacheMiddleware` sees such a validation as one more request, with the fields of the
    /// request that found the stale response.
    ///
    /// - Parameter responder: the responder of the whole router that has the middleware.
    public func validate(through responder: some HTTPResponder<Context>) {
      self.responder.withLock { $0 = { try await responder.respond(to: $0, context: $1) } }
    }

    /// Waits for the graceful shutdown of its service group, or until its task is cancelled. Then waits for
    /// validations in the background, writes batched changes, and closes the cache.
    public func run() async {
      do { try await gracefulShutdown() } catch {
        // A task that is cancelled ends the cache without waiting for validations.
      }
      responder.withLock { $0 = nil }
      await cache.finishBackgroundWork(within: limit)
      await cache.flush()
      await cache.close()
    }

    /// Calls the routes for a validation after its request; nil before `validate(through:)`.
    var route: Respond? {
      guard let respond = responder.withLock({ $0 }) else { return nil }
      let cache = ObjectIdentifier(cache)
      return { request, context in
        try await ValidatedCache.$current.withValue(cache) { try await respond(request, context) }
      }
    }
  }

  /// The cache whose middleware lets a request pass, because a validation of that cache sent the request.
  enum ValidatedCache {
    @TaskLocal static var current: ObjectIdentifier?
  }
#endif
