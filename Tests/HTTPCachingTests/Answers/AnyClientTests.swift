import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

/// The two pieces of docs/any-client.md.
@Suite("HTTPCache under any client or server", .timeLimit(.minutes(10)))
struct AnyClientTests {
  private typealias Fields = [(String, String)]

  private struct Message: Sendable {
    var status: Int
    var fields: Fields
    var body: [UInt8]
  }

  private struct ClientUpstream: Upstream {
    let fetch: @Sendable (_ method: String, _ url: String, _ fields: Fields) async throws -> Message

    func send(_ request: UpstreamRequest) async throws(UpstreamError) -> UpstreamResponse {
      let head = request.head
      let url = "\(head.scheme ?? "https")://\(head.authority ?? "")\(head.path ?? "/")"
      do {
        let reply = try await fetch(
          head.method.rawValue, url, head.headerFields.map { ($0.name.rawName, $0.value) })
        return UpstreamResponse(
          head: HTTPResponse(status: .init(code: reply.status), headerFields: HTTPFields(reply.fields)),
          body: MessageBody(BodyBytes(reply.body)))
      } catch {
        throw UpstreamError(.unreachable, "\(url): \(error)", cause: error)
      }
    }
  }

  private struct Gone: Error {}

  private let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
  private let cache: HTTPCache

  init() {
    cache = HTTPCache(
      configuration: HTTPCache.Configuration(rules: CacheRules(mode: .shared), clock: clock),
      store: MemoryStore(capacity: 1 << 20, clock: clock))
  }

  private func handle(
    _ method: String, _ path: String, _ fields: Fields = [], via routes: any Upstream
  ) async throws -> Message {
    let request = HTTPRequest(
      method: HTTPRequest.Method(method) ?? .get, scheme: "https", authority: "www.example.com", path: path,
      headerFields: HTTPFields(fields))
    let response = try await cache.respond(
      to: request, options: RequestOptions(redirectLimit: 0, bodyForms: .asSent), via: routes)
    return Message(
      status: response.head.status.code,
      fields: response.head.headerFields.map { ($0.name.rawName, $0.value) },
      body: try await response.body.collect().array)
  }

  @Test("hits, validation, conditions, redirects, and an origin that is gone")
  func exchange() async throws {
    let calls = Mutex<[String]>([])
    let isGone = Mutex(false)
    let routes = ClientUpstream { method, url, fields in
      let condition = fields.first { $0.0.lowercased() == "if-none-match" }?.1
      calls.withLock { $0.append("\(method) \(url) \(condition ?? "")") }
      if isGone.withLock({ $0 }) { throw Gone() }
      if url.hasSuffix("/old") { return Message(status: 301, fields: [("Location", "/a")], body: []) }
      let state = [("Cache-Control", "max-age=60, stale-if-error=600"), ("ETag", "\"1\"")]
      return condition == "\"1\""
        ? Message(status: 304, fields: state, body: [])
        : Message(status: 200, fields: state, body: [1, 2, 3])
    }
    for _ in 0..<2 { #expect(try await handle("GET", "/a", via: routes).body == [1, 2, 3]) }
    #expect(calls.withLock { $0 } == ["GET https://www.example.com/a "])
    #expect(try await handle("GET", "/a", [("If-None-Match", "\"1\"")], via: routes).status == 304)
    clock.advance(by: .seconds(61))
    #expect(try await handle("GET", "/a", via: routes).body == [1, 2, 3])
    #expect(calls.withLock { $0.last } == "GET https://www.example.com/a \"1\"")
    #expect(try await handle("GET", "/old", via: routes).status == 301)
    isGone.withLock { $0 = true }
    clock.advance(by: .seconds(61))
    #expect(try await handle("GET", "/a", via: routes).body == [1, 2, 3])
    await #expect(throws: UpstreamError.self) { try await handle("GET", "/b", via: routes) }
  }
}

extension HTTPFields {
  fileprivate init(_ pairs: [(String, String)]) {
    self.init()
    for (name, value) in pairs {
      if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
    }
  }
}
