import HTTPCacheHummingbird
import HTTPCaching
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServerTesting
import Testing

/// Calls of each middleware from every isolation. Hummingbird's protocol declares `next`, so `handle` cannot inherit the
/// caller's isolation: a caller with an isolation passes a `@Sendable` closure, which waits for what belongs to the caller.
@Suite("Middlewares can be called from every isolation", .timeLimit(.minutes(5)))
struct IsolationTests {
  /// A type that must not leave its actor.
  private final class Count { var value = 0 }

  /// As the main function of a program.
  @MainActor private enum Program {
    static let count = Count()

    static func main() async throws -> Int {
      let next: @Sendable (Request, PlainContext) async throws -> Response = { _, _ in await answered() }
      _ = try await cached.handle(request(), context: context(), next: next)
      _ = try await defaulting.handle(request(), context: context(), next: next)
      _ = try await tagging.handle(request(), context: context(), next: next)
      return count.value
    }

    static func answered() -> Response {
      count.value += 1
      return answer("a")
    }
  }

  @MainActor private final class Model {
    private let count = Count()

    func run() async throws -> Int {
      let next: @Sendable (Request, PlainContext) async throws -> Response = { _, _ in await self.answered() }
      _ = try await cached.handle(request(), context: context(), next: next)
      _ = try await defaulting.handle(request(), context: context(), next: next)
      _ = try await tagging.handle(request(), context: context(), next: next)
      return count.value
    }

    private func answered() -> Response {
      count.value += 1
      return answer("a")
    }
  }

  private actor Runner {
    private let count = Count()

    func run() async throws -> Int {
      let next: @Sendable (Request, PlainContext) async throws -> Response = { _, _ in await self.answered() }
      _ = try await cached.handle(request(), context: context(), next: next)
      _ = try await defaulting.handle(request(), context: context(), next: next)
      _ = try await tagging.handle(request(), context: context(), next: next)
      return count.value
    }

    private func answered() -> Response {
      count.value += 1
      return answer("a")
    }
  }

  private nonisolated func run() async throws -> Int {
    let count = Count()
    let next: (Request, PlainContext) async throws -> Response = { _, _ in
      count.value += 1
      return answer("a")
    }
    _ = try await cached.handle(request(), context: context(), next: next)
    _ = try await defaulting.handle(request(), context: context(), next: next)
    _ = try await tagging.handle(request(), context: context(), next: next)
    return count.value
  }

  @Test("from a main function, a class of the main actor, an actor and a function without isolation")
  func isolations() async throws {
    #expect(try await Program.main() == 3)
    #expect(try await Model().run() == 3)
    #expect(try await Runner().run() == 3)
    #expect(try await run() == 3)
  }
}

/// A context without a channel, for calls of a middleware without a server.
private struct PlainContext: RequestContext {
  struct Source: RequestContextSource {
    let logger = Logger(label: "test")
  }

  var coreContext: CoreRequestContextStorage

  init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
}

private let cached = CacheMiddleware<PlainContext>(
  HTTPCache(
    configuration: HTTPCache.Configuration(rules: CacheRules(mode: .shared)),
    store: MemoryStore(capacity: 1 << 20)),
  origin: .host())
private let defaulting = DefaultCacheControlMiddleware<PlainContext>(.public)
private let tagging = ETagMiddleware<PlainContext>()

private func context() -> PlainContext { PlainContext(source: PlainContext.Source()) }

/// A request whose response is not stored, so that each call asks the route.
private func request() -> Request {
  Request(
    head: HTTPRequest(
      method: .get, scheme: "http", authority: "example.com", path: "/a",
      headerFields: [.cacheControl: "no-store"]),
    body: RequestBody(buffer: ByteBuffer()))
}
