#if Hummingbird
  public import HTTPCaching
  public import Hummingbird

  /// Answers requests from a shared cache inside the server (RFC 9111), and passes the rest to the routes
  /// below it.
  ///
  /// ```swift
  /// let cache = try HTTPCache.open(.init(rules: CacheRules(mode: .shared, refusesSetCookie: true), cacheStatusName: "app"))
  /// let router = Router()
  /// let articles = CacheMiddleware<BasicRequestContext>(cache, origin: .fixed(scheme: "https", authority: "example.com"))
  /// router.group("articles").add(middleware: articles).get { … }
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
  /// `stale-while-revalidate` (RFC 5861 §3) is validated before it is used. With a `CacheService` it is validated
  /// afterwards.
  public struct CacheMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Separates users (RFC 9111 §7.2): the partition of a request, which is the private cache of one user: also `private`
    /// responses are stored there. Empty is what all users share; nil bypasses the cache. An unsafe request still
    /// invalidates what it changes, in all partitions (RFC 9111 §4.4).
    public typealias Partition = @Sendable (Request, Context) async throws -> String?

    private let server: ServerCache<Context>
    private let service: CacheService<Context>?
    /// The cache that the middleware was made with, which a shared cache replaces if it is private. A service over
    /// that cache marks its validations with it.
    private let given: ObjectIdentifier

    /// The cache in use.
    public var cache: HTTPCache { server.cache }

    /// Makes a middleware.
    ///
    /// - Parameters:
    ///   - cache: a cache of the mode `.shared`. A private cache is replaced by a shared one over its store,
    ///     because the answers go to many users.
    ///   - origin: the scheme and authority of the keys. `.fixed` for one site; `.host()` trusts what clients write
    ///     in `Host`.
    ///   - service: validates in the background; nil validates a stale response before it is used.
    ///   - partition: separates users; by default all users share one partition.
    public init(
      _ cache: HTTPCache, origin: RequestOrigin, service: CacheService<Context>? = nil,
      partition: @escaping Partition = { _, _ in "" }
    ) {
      server = ServerCache(cache, origin: origin, partition: partition)
      given = ObjectIdentifier(cache)
      self.service = service
    }

    /// Answers from the cache, or with `next`.
    ///
    /// - Throws: what `next` throws, or the partition.
    public func handle(
      _ request: Request, context: Context,
      next: (Request, Context) async throws -> Response
    ) async throws -> Response {
      if service != nil, let validated = ValidatedCache.current,
        validated == given || validated == ObjectIdentifier(cache)
      {
        return try await next(request, context)
      }
      return try await withoutActuallyEscaping(next) { next in
        let route = Route(next)
        defer { route.end() }
        return try await server.respond(
          to: request, context: context, route: route, background: service?.route)
      }
    }
  }
#endif
