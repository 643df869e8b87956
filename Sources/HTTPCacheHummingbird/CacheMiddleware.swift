#if Hummingbird
  public import HTTPCaching
  public import Hummingbird

  /// Answers requests from a shared cache inside the server (RFC 9111), and asks the routes below it
  /// for the rest.
  ///
  /// ```swift
  /// let cache = try HTTPCache.open(.init(rules: CacheRules(mode: .shared, refusesSetCookie: true), cacheStatusName: "app"))
  /// let router = Router()
  /// router.group("articles").add(middleware: CacheMiddleware(cache)).get { … }
  /// ```
  ///
  /// Responses are stored that their `Cache-Control` and the rest of RFC 9111 allow to store; concurrent
  /// requests for the same are one call of the route. Conditional requests get 304, ranges 206, and
  /// methods that are not safe invalidate. What a route throws leaves the middleware as it came, unless
  /// `stale-if-error` lets a stored response answer.
  ///
  /// Middleware added before it sees every request, middleware added after it only those that the cache
  /// does not answer. So put authentication and logging before it, and `ETagMiddleware`,
  /// `DefaultCacheControlMiddleware` and compression after it.
  ///
  /// A middleware can ask the routes only while it handles a request: a response with
  /// `stale-while-revalidate` (RFC 5861 §3) is validated before it is used. `CachingResponder` does it
  /// afterwards.
  public struct CacheMiddleware<Context: RequestContext>: RouterMiddleware {
    private let server: ServerCache<Context>

    /// The cache in use.
    public var cache: HTTPCache { server.cache }

    /// Makes a middleware.
    ///
    /// - Parameters:
    ///   - cache: of the mode `.shared`. In place of a private one, a shared one over the same store is
    ///     used, since the answers go to many users.
    ///   - options: how requests become keys, and what else there is to choose.
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
