#if Hummingbird
  import HTTPCacheNIO
  import HTTPCaching
  import Hummingbird
  import NIOCore
  import Synchronization

  /// A route as the origin of a cache: the rest of the chain of middleware, and the route.
  ///
  /// Hummingbird lends a middleware the rest of the chain only while it handles a request. `end()` returns
  /// it, and after that it is not called again.
  final class RouteUpstream<Context: RequestContext>: Upstream, @unchecked Sendable {
    // @unchecked Sendable because the engine calls its upstream in the task of the request that waits for the
    // answer, or in a child of it that ends before it goes on, so the closure is called for the task that it was lent
    // to, and by one task at a time. A `CacheService` gives a `@Sendable` one.
    private var next: ((Request, Context) async throws -> Response)?
    let request: Request
    private let context: Context
    private let thrown = Mutex<(any Error)?>(nil)

    init(
      _ next: @escaping (Request, Context) async throws -> Response, request: Request, context: Context
    ) {
      self.next = next
      self.request = request
      self.context = context
    }

    /// The error that the route threw, if the cache got a response for the error.
    var withheld: (any Error)? { thrown.withLock { $0 } }

    func end() { next = nil }

    func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      thrown.withLock { $0 = nil }
      guard let next else { throw UpstreamError(.cancelled, "cancelled", cause: CancellationError()) }
      var head = self.request.head
      head.headerFields = request.head.headerFields
      var forwarded = Request(head: head, body: self.request.body)
      if let body = request.body, !(body.source is BufferSource<RequestBody>) {
        forwarded.body = RequestBody(asyncSequence: BufferSequence(body))
      }
      let response: Response
      do {
        response = try await next(forwarded, context)
      } catch let error as CancellationError {
        throw UpstreamError(.cancelled, "cancelled", cause: error)
      } catch {
        thrown.withLock { $0 = error }
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
        head: head, body: MessageBody(PumpedBody(response.body, length: length)))
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

  extension PumpedBody {
    /// The body of a route's response. The route waits until each piece is taken.
    ///
    /// - Parameter length: the number of bytes that the route announced, if any.
    convenience init(_ body: ResponseBody, length: Int64?) {
      self.init(length: length, mostReady: 1) { pump in
        do {
          try await body.write(PumpWriter(pump: pump))
        } catch let error as CancellationError {
          throw error
        } catch {
          throw UpstreamError(.protocol, "the route failed while it wrote the body", cause: error)
        }
        // No error for a body that has been finished.
        throw UpstreamError(.protocol, "the route did not finish its body")
      }
    }
  }

  /// Writes the body of a route into a pump.
  private struct PumpWriter: ResponseBodyWriter {
    let pump: BufferPump

    mutating func write(_ buffer: ByteBuffer) async throws { try await pump.write(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
      pump.finish(trailingHeaders ?? [:])
    }
  }
#endif
