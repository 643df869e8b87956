#if Hummingbird
  public import HTTPCaching
  public import Hummingbird

  /// Answers requests from a shared cache inside the server (RFC 9111), and passes the rest to the routes
  /// below it.
  ///
  /// ```swift
  /// let cache = try HTTPCache.open(.init(rules: CacheRules(mode: .shared, refusesSetCookie: true), cacheStatusName: "app"))
  /// let router = Router()
  /// router.group("articles").add(middleware: CacheMiddleware(cache)).get { … }
  /// ```
  ///
  /// Responses are stored if their `Cache-Control` and RFC 9111 allow it. Concurrent requests for one
  /// resource call its route once. Conditional requests get 304, ranges get 206, and unsafe methods
  /// invalidate. An error that a route throws leaves the middleware unchanged, unless `stale-if-error` allows
  /// a stored response to answer.
  ///
  /// Middleware added before it sees every request; middleware added after it sees only the requests that the
  /// cache does not answer. So add authentication and logging before it, and `ETagMiddleware`,
  /// `DefaultCacheControlMiddleware` and compression after it.
  ///
  /// A middleware can call the routes only while it handles a request: so a response with
  /// `stale-while-revalidate` (RFC 5861 §3) is validated before it is used. `CachingResponder` validates it
  /// afterwards.
  public struct CacheMiddleware<Context: RequestContext>: RouterMiddleware {
    private let server: ServerCache<Context>

    /// The cache in use.
    public var cache: HTTPCache { server.cache }

    /// Makes a middleware.
    ///
    /// - Parameters:
    ///   - cache: a cache of the mode `.shared`. A private cache is replaced by a shared one over its store,
    ///     because the answers go to many users.
    ///   - options: how requests become keys, and further settings.
    public init(_ cache: HTTPCache, options: ServerCacheOptions<Context> = ServerCacheOptions()) {
      server = ServerCache(cache, options: options, validatesInBackground: false)
    }

    /// Answers from the cache, or with `next`.
    ///
    /// - Throws: what `next` throws, or the partition of the options.
    public func handle(
      _ request: Request, context: Context,
      next: (Request, Context) async throws -> Response
    ) async throws -> Response {
      try await withoutActuallyEscaping(next) { next in
        let route = Route(next)
        defer { route.end() }
        return try await server.respond(to: request, context: context, route: route)
      }
    }
  }
#endif
