#if Hummingbird
  import Hummingbird
  import Synchronization

  /// The rest of the chain of middleware, and the route, called where the cache cannot answer.
  ///
  /// Hummingbird lends a middleware the rest of the chain only while it handles a request. `end()` returns
  /// it, and after that it is not called again.
  final class Route<Context>: @unchecked Sendable {
    // @unchecked Sendable because the engine calls its upstream in the task of the request that waits for the
    // answer, so the closure is called by the task that it was lent to.
    typealias Next = (Request, Context) async throws -> Response

    private var next: Next?

    init(_ next: @escaping Next) { self.next = next }

    /// Calls the route.
    ///
    /// - Throws: what the route throws; `CancellationError` after `end()`.
    func respond(to request: Request, context: Context) async throws -> Response {
      guard let next else { throw CancellationError() }
      return try await next(request, context)
    }

    func end() { next = nil }
  }
#endif
