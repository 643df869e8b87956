#if Hummingbird
  public import HTTPCaching
  public import Hummingbird

  /// A whole server's responder with a shared cache in front of it, as `CacheMiddleware` is in front of
  /// routes. It outlives requests, so that `stale-while-revalidate` validates in the background
  /// (RFC 5861 §3).
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
    ///   - responder: answers what the cache cannot.
    ///   - cache: of the mode `.shared`; in place of a private one, a shared one over the same store is
    ///     used.
    ///   - options: how requests become keys, and what else there is to choose.
    public init(
      _ responder: Responder, cache: HTTPCache,
      options: ServerCacheOptions<Context> = ServerCacheOptions()
    ) {
      self.responder = responder
      server = ServerCache(cache, options: options, validatesInBackground: true)
    }

    /// Answers from the cache, or as the responder does.
    ///
    /// - Throws: what the responder throws, or the partition of the options.
    @Sendable public func respond(to request: Request, context: Context) async throws -> Response {
      let route = Route(responder.respond(to:context:))
      return try await server.respond(to: request, context: context, route: route)
    }
  }
#endif
