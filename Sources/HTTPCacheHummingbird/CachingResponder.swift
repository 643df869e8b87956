#if Hummingbird
  public import HTTPCaching
  public import Hummingbird

  /// A shared cache in front of a whole server's responder, as `CacheMiddleware` is in front of routes. It
  /// outlives requests, so `stale-while-revalidate` validates in the background (RFC 5861 §3).
  ///
  /// ```swift
  /// let app = Application(responder: CachingResponder(router.buildResponder(), cache: cache))
  /// ```
  public struct CachingResponder<Responder: HTTPResponder>: HTTPResponder
  where Responder.Context: RequestContext {
    /// The context of the responder.
    public typealias Context = Responder.Context

    private let responder: Responder
    private let server: ServerCache<Context>

    /// The cache in use.
    public var cache: HTTPCache { server.cache }

    /// Makes a responder.
    ///
    /// - Parameters:
    ///   - responder: answers the requests that the cache cannot answer.
    ///   - cache: a cache of the mode `.shared`. A private cache is replaced by a shared one over its store.
    ///   - options: how requests become keys, and further settings.
    public init(
      _ responder: Responder, cache: HTTPCache,
      options: ServerCacheOptions<Context> = ServerCacheOptions()
    ) {
      self.responder = responder
      server = ServerCache(cache, options: options, validatesInBackground: true)
    }

    /// Answers from the cache, or with the responder.
    ///
    /// - Throws: what the responder throws, or the partition of the options.
    @Sendable public func respond(to request: Request, context: Context) async throws -> Response {
      let route = Route(responder.respond(to:context:))
      return try await server.respond(to: request, context: context, route: route)
    }
  }
#endif
