#if Hummingbird
  import Hummingbird
  import Synchronization

  /// What answers where the cache cannot: the rest of the chain of middleware, and the route.
  ///
  /// Hummingbird lends a middleware the rest of the chain for as long as it handles a request. The loan
  /// is given back by `end()`, after which nothing is asked any more.
  final class Route<Context>: @unchecked Sendable {
    // @unchecked Sendable because the engine asks its upstream in the task of the request that waits
    // for the answer, so that the closure is called by the task that it was lent to.
    typealias Next = (Request, Context) async throws -> Response

    private var next: Next?

    init(_ next: @escaping Next) { self.next = next }

    /// Asks.
    ///
    /// - Throws: what the route throws; `CancellationError` after `end()`.
    func respond(to request: Request, context: Context) async throws -> Response {
      guard let next else { throw CancellationError() }
      return try await next(request, context)
    }

    func end() { next = nil }
  }
#endif
