#if Hummingbird
  public import HTTPCaching
  public import Hummingbird

  /// A shared cache in front of a whole server's responder, as `CacheMiddleware` is in front of routes. It
  /// outlives requests, so `stale-while-revalidate` validates in the background (RFC 5861 §3).
  ///
  /// ```swift
  /// let responder = CachingResponder(router.buildResponder(), cache: cache, origin: .host())
  /// let app = Application(responder: responder)
  /// ```
  public struct CachingResponder<Responder: HTTPResponder>: HTTPResponder
  where Responder.Context: RequestContext {
    /// The context of the responder.
    public typealias Context = Responder.Context

    /// Separates users (RFC 9111 §7.2): the partition of a request, which is the private cache of one user: also `private`
    /// responses are stored there. Empty is what all users share; nil bypasses the cache. An unsafe request still
    /// invalidates what it changes, in all partitions (RFC 9111 §4.4).
    public typealias Partition = @Sendable (Request, Context) async throws -> String?

    private let responder: Responder
    private let server: ServerCache<Context>

    /// The cache in use.
    public var cache: HTTPCache { server.cache }

    /// Makes a responder.
    ///
    /// - Parameters:
    ///   - responder: answers the requests that the cache cannot answer.
    ///   - cache: a cache of the mode `.shared`. A private cache is replaced by a shared one over its store.
    ///   - origin: the scheme and authority of the keys. `.fixed` for one site; `.host()` trusts what clients write
    ///     in `Host`.
    ///   - partition: separates users; by default all users share one partition.
    public init(
      _ responder: Responder, cache: HTTPCache, origin: RequestOrigin,
      partition: @escaping Partition = { _, _ in "" }
    ) {
      self.responder = responder
      server = ServerCache(cache, origin: origin, partition: partition)
    }

    /// Answers from the cache, or with the responder.
    ///
    /// - Throws: what the responder throws, or the partition.
    @Sendable public func respond(to request: Request, context: Context) async throws -> Response {
      let route = Route(responder.respond(to:context:))
      return try await server.respond(to: request, context: context, route: route, background: route)
    }
  }
#endif
