#if Hummingbird
  import HTTPCacheNIO
  import HTTPCaching
  import Hummingbird
  import Synchronization

  /// A route as the origin of a cache.
  final class RouteUpstream<Context: RequestContext>: Upstream {
    /// The route's result, if the cache got a different one.
    enum Withheld: Sendable {
      /// The cache got the route's result.
      case nothing
      /// The route threw.
      case error(any Error)
    }

    private let route: Route<Context>
    private let request: Request
    private let context: Context
    private let state = Mutex(Withheld.nothing)

    init(_ route: Route<Context>, request: Request, context: Context) {
      self.route = route
      self.request = request
      self.context = context
    }

    /// The route's result, if the cache got a different one.
    var withheld: Withheld { state.withLock { $0 } }

    func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      state.withLock { $0 = .nothing }
      var head = self.request.head
      head.headerFields = request.head.headerFields
      var forwarded = Request(head: head, body: self.request.body)
      if let body = request.body, !(body.source is BufferSource<RequestBody>) {
        forwarded.body = RequestBody(asyncSequence: BufferSequence(body))
      }
      let response: Response
      do {
        response = try await route.respond(to: forwarded, context: context)
      } catch let error as CancellationError {
        throw UpstreamError(.cancelled, "cancelled", cause: error)
      } catch {
        state.withLock { $0 = .error(error) }
        return Self.answer(to: error)
      }
      return answer(response, to: request.head.method)
    }

    private func answer(_ response: Response, to method: HTTPRequest.Method) -> UpstreamResponse {
      let head = response.head
      if method == .head || head.status.code == 204 || head.status.code == 304 {
        return UpstreamResponse(head: head, body: .empty)
      }
      let announced = head.headerFields[.contentLength].flatMap { Int64($0) }
      let length = response.body.contentLength.map { Int64($0) } ?? announced
      return UpstreamResponse(
        head: head, body: MessageBody(ResponseBodySource(response.body, length: length)))
    }

    /// The response that the cache gets for an error, so that it may answer with a stale one (RFC 5861 §4).
    private static func answer(to error: any Error) -> UpstreamResponse {
      let status = (error as? any HTTPResponseError)?.status ?? .internalServerError
      return UpstreamResponse(
        head: HTTPResponse(
          status: status.code < 400 ? .internalServerError : status,
          headerFields: [.contentLength: "0"]),
        body: .empty, storageRefusal: .upstream)
    }
  }
#endif
