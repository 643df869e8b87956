#if Hummingbird
  import Foundation
  import HTTPCacheHummingbird
  import HTTPCaching
  import HTTPTypes
  import Hummingbird
  import Logging
  import NIOCore
  import NIOEmbedded

  extension DoorRows {
    /// A request to a router without a server: of a route that answers at once, and of such a route behind the
    /// middleware.
    static func servers(_ url: URL) async throws -> [DoorRow] {
      let cache = try HTTPCache.open(
        HTTPCache.Configuration(memoryCapacity: 64 << 20, rules: CacheRules(mode: .shared)))
      let middleware = CacheMiddleware<BasicRequestContext>(
        cache, origin: .fixed(scheme: "https", authority: "www.example.com"))
      let (plain, cached) = (responder(nil), responder(middleware))
      let request = Request(
        head: HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: url.path),
        body: RequestBody(buffer: ByteBuffer()))
      let context = BasicRequestContext(
        source: ApplicationRequestContextSource(
          channel: NIOAsyncTestingChannel(), logger: Logger(label: "bench")))
      return [
        DoorRow(name: "Hummingbird: a route that answers at once") {
          try check(try await count(plain, request, context))
        },
        DoorRow(name: "CacheMiddleware") { try check(try await count(cached, request, context)) },
      ]
    }

    private static func responder(
      _ middleware: CacheMiddleware<BasicRequestContext>?
    ) -> RouterResponder<BasicRequestContext> {
      let router = Router()
      if let middleware { router.add(middleware: middleware) }
      let body = ByteBuffer(repeating: 0x61, count: size)
      router.get("news/article") { _, _ in
        Response(status: .ok, headers: FixedOrigin.fields, body: ResponseBody(byteBuffer: body))
      }
      return router.buildResponder()
    }

    /// The bytes of the answer's body.
    private static func count(
      _ responder: RouterResponder<BasicRequestContext>, _ request: Request, _ context: BasicRequestContext
    ) async throws -> Int {
      let written = WrittenBytes()
      let response = try await responder.respond(to: request, context: context)
      try await response.body.write(written)
      return written.count
    }
  }

  /// Counts the bytes of a body.
  private final class WrittenBytes: ResponseBodyWriter {
    private(set) var count = 0

    func write(_ buffer: ByteBuffer) async throws { count += buffer.readableBytes }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
  }
#endif
