import HTTPCacheTesting
import HTTPCaching

/// A cache in memory, an origin, a clock that stands still, and the events so far.
struct Kitchen: Sendable {
  struct Answer: Sendable {
    let head: HTTPResponse
    let text: String
    let outcome: CacheOutcome
    let redirects: [CacheOutcome]
    let trailers: HTTPFields
    var status: Int { head.status.code }
  }

  let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
  let origin = TestOrigin()
  let events = EventLog()
  let cache: HTTPCache

  init(
    rules: CacheRules = CacheRules(), store: (any CacheStore)? = nil,
    largestEntry: LargestEntry = .bytes(32 << 20),
    configure: (inout HTTPCache.Configuration) -> Void = { _ in }
  ) {
    var configuration = HTTPCache.Configuration(rules: rules, observer: events, clock: clock)
    configure(&configuration)
    cache = HTTPCache(
      configuration: configuration,
      store: store
        ?? MemoryStore(capacity: 64 << 20, largestEntry: largestEntry, clock: clock))
  }

  func request(
    _ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get
  ) -> HTTPRequest {
    HTTPRequest(
      method: method, scheme: "https", authority: "example.com", path: path, headerFields: fields)
  }

  func respond(
    _ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get,
    policy: CachePolicy = .standard, options: RequestOptions = RequestOptions()
  ) async throws -> CacheResponse {
    try await cache.respond(
      to: request(path, fields, method: method), policy: policy, options: options, via: origin)
  }

  @discardableResult
  func get(
    _ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get,
    policy: CachePolicy = .standard, options: RequestOptions = RequestOptions()
  ) async throws -> Answer {
    let response = try await respond(path, fields, method: method, policy: policy, options: options)
    let body = try await response.body.collect()
    return Answer(
      head: response.head, text: String(decoding: body.array, as: UTF8.self),
      outcome: response.outcome, redirects: response.redirects, trailers: response.body.trailers)
  }
}
