#if Hummingbird
  import HTTPCacheNIO
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

    /// The cache in use.
    public let cache: HTTPCache
    /// The cache that the middleware was made with, which a shared cache replaces if it is private. A service over
    /// that cache marks its validations with it.
    private let given: ObjectIdentifier
    private let origin: RequestOrigin
    private let service: CacheService<Context>?
    private let partition: Partition

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
      if cache.configuration.rules.mode == .shared {
        self.cache = cache
      } else {
        var rules = cache.configuration.rules
        rules.mode = .shared
        self.cache = cache.using(rules)
      }
      given = ObjectIdentifier(cache)
      self.origin = origin
      self.service = service
      self.partition = partition
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
      let partition = try await self.partition(request, context)
      guard let head = origin.absolute(request.head),
        // An unsafe request invalidates even if it has no partition (RFC 9111 §4.4).
        partition != nil || !request.method.isSafe
      else { return try await next(request, context) }
      let background = service?.route.map { RouteUpstream($0, request: request, context: context) }
      return try await withoutActuallyEscaping(next) { next in
        let route = RouteUpstream(next, request: request, context: context)
        defer { route.end() }
        let response = try await respond(to: head, in: partition, via: route, background: background)
        return response.serverResponse(to: request.method)
      }
    }

    /// Answers a request from the cache.
    ///
    /// - Parameter background: asked for validations afterwards; nil validates before a stale response is used.
    /// - Throws: what the route throws.
    private func respond(
      to head: HTTPRequest, in partition: String?, via route: RouteUpstream<Context>,
      background: RouteUpstream<Context>?
    ) async throws -> CacheResponse {
      var options = RequestOptions(
        partition: partition ?? "", redirectLimit: 0, validatesInBackground: background != nil)
      options.isOneUser = true
      options.backgroundUpstream = background
      let response: CacheResponse
      do {
        response = try await cache.respond(
          to: head, body: route.request.content, policy: partition == nil ? .bypass : .standard,
          options: options, via: route)
      } catch let error as UpstreamError {
        throw error.cause ?? error
      }
      if case .forwarded(_, _, _, collapsed: false) = response.outcome, let error = route.withheld {
        throw error
      }
      return response
    }
  }

  extension Request {
    /// The content, unless there is certainly none.
    fileprivate var content: MessageBody? {
      let length = headers[.contentLength].flatMap { Int64($0) }
      if length == 0 { return nil }
      if length == nil, headers[.transferEncoding] == nil, method == .get || method == .head {
        return nil
      }
      return MessageBody(BufferSource(body, length: length))
    }
  }

  extension CacheResponse {
    /// The response in Hummingbird's type; its body is pulled at the client's pace.
    fileprivate func serverResponse(to method: HTTPRequest.Method) -> Response {
      if method == .head {
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody())
      }
      let hasNoContent = head.status.code == 204 || head.status.code == 304
      let body = body
      return Response(
        status: head.status, headers: head.headerFields,
        body: ResponseBody(contentLength: hasNoContent ? nil : body.length.flatMap { Int(exactly: $0) }) {
          writer in
          // A client that disconnects stops the source of the body.
          defer { body.source.cancel() }
          for try await buffer in BufferSequence(body) { try await writer.write(buffer) }
          let trailers = body.trailers
          try await writer.finish(trailers.isEmpty ? nil : trailers)
        })
    }
  }
#endif
