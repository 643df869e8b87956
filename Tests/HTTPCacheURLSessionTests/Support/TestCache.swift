import Foundation
import HTTPCacheTesting
@testable import HTTPCacheURLSession
import HTTPCaching

/// Sessions over `CachingURLProtocol`, with a cache in memory and a scripted origin.
struct TestCache: Sendable {
  let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
  let origin: ScriptedUpstream
  let cache: HTTPCache

  init(_ answers: [ScriptedResponse]) { self.init(ScriptedUpstream(answers)) }

  init(_ origin: ScriptedUpstream, rules: CacheRules = CacheRules()) {
    self.origin = origin
    cache = HTTPCache(
      configuration: HTTPCache.Configuration(rules: rules, clock: clock),
      store: MemoryStore(capacity: 256 << 20, largestEntry: .bytes(128 << 20), clock: clock))
  }

  func configuration(
    _ base: URLSessionConfiguration = .ephemeral, bodyLimit: Int = 512 << 20
  ) -> URLSessionConfiguration {
    base.caching(with: cache, via: origin, bodyLimit: bodyLimit)
  }

  func session(delegate: (any URLSessionDelegate)? = nil) -> URLSession {
    URLSession(configuration: configuration(), delegate: delegate, delegateQueue: nil)
  }

  static func url(_ path: String) -> URL {
    URL(string: "https://example.com\(path)") ?? URL(fileURLWithPath: path)
  }

  static func request(
    _ path: String, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
    _ fields: [String: String] = [:], method: String = "GET", body: String? = nil
  ) -> URLRequest {
    var request = URLRequest(url: url(path), cachePolicy: policy)
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    return request
  }
}

extension URLSession {
  /// Status, text and outcome of a response.
  func get(_ request: URLRequest) async throws -> (
    text: String, response: HTTPURLResponse, outcome: CacheOutcome?
  ) {
    let (data, response) = try await data(for: request)
    guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return (String(decoding: data, as: UTF8.self), http, http.cacheOutcome)
  }

  func get(_ path: String) async throws -> (
    text: String, response: HTTPURLResponse, outcome: CacheOutcome?
  ) { try await get(TestCache.request(path)) }
}

extension CacheOutcome? {
  var isHit: Bool { if case .hit = self { true } else { false } }
  var isValidated: Bool { if case .validated = self { true } else { false } }
}
