#if Hummingbird
  import HTTPCacheNIO
  import HTTPCaching
  import Hummingbird

  /// Answers the requests of a server from a shared cache, and calls a route for the rest.
  struct ServerCache<Context: RequestContext>: Sendable {
    let cache: HTTPCache
    private let origin: RequestOrigin
    private let partition: CacheMiddleware<Context>.Partition

    init(
      _ cache: HTTPCache, origin: RequestOrigin, partition: @escaping CacheMiddleware<Context>.Partition
    ) {
      if cache.configuration.rules.mode == .shared {
        self.cache = cache
      } else {
        var rules = cache.configuration.rules
        rules.mode = .shared
        self.cache = cache.using(rules)
      }
      self.origin = origin
      self.partition = partition
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - route: called while the request is handled.
    ///   - background: called for validations afterwards; nil validates before a stale response is used.
    func respond(
      to request: Request, context: Context, route: Route<Context>, background: Route<Context>?
    ) async throws -> Response {
      let partition = try await self.partition(request, context)
      guard let head = origin.absolute(request.head),
        // An unsafe request invalidates even if it has no partition (RFC 9111 §4.4).
        partition != nil || !request.method.isSafe
      else { return try await route.respond(to: request, context: context) }
      let upstream = RouteUpstream(route, request: request, context: context)
      var options = RequestOptions(
        partition: partition ?? "", redirectLimit: 0, validatesInBackground: background != nil)
      options.isOneUser = true
      options.backgroundUpstream = background.map { RouteUpstream($0, request: request, context: context) }
      let response: CacheResponse
      do {
        response = try await cache.respond(
          to: head, body: request.content, policy: partition == nil ? .bypass : .standard,
          options: options, via: upstream)
      } catch let error as UpstreamError {
        throw error.cause ?? error
      }
      return try Self.restored(response, upstream.withheld).serverResponse(to: request.method)
    }

    /// The route's own response, if the cache got a different one.
    private static func restored(
      _ response: CacheResponse, _ withheld: RouteUpstream<Context>.Withheld
    ) throws -> CacheResponse {
      guard case .forwarded(_, _, _, collapsed: false) = response.outcome else { return response }
      switch withheld {
      case .nothing: return response
      case .error(let error): throw error
      }
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
