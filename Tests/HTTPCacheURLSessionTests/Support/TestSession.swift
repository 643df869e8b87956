import Foundation
import HTTPCacheTesting
import HTTPCacheURLSession
import HTTPCaching
import Testing

/// A cache, a session over it and an origin.
struct TestSession: Sendable {
  let clock = ManualClock(now: SystemClock().now)
  let origin: SocketOrigin
  let cache: HTTPCache
  let session: CachedURLSession

  init(
    directory: String? = nil, rules: CacheRules = CacheRules(), largestEntry: LargestEntry = .default,
    configuration: URLSessionConfiguration = .ephemeral, delegate: (any URLSessionDelegate)? = nil,
    _ handler: @escaping SocketOrigin.Handler
  ) throws {
    origin = try SocketOrigin(handler)
    cache = try HTTPCache.open(
      HTTPCache.Configuration(
        directory: directory, largestEntry: largestEntry, rules: rules, clock: clock))
    session = CachedURLSession(cache: cache, configuration: configuration, delegate: delegate)
  }

  func request(_ path: String, _ fields: [String: String] = [:], method: String = "GET") -> URLRequest {
    var request = URLRequest(url: origin.url(path))
    request.httpMethod = method
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    return request
  }

  /// Loads a path and returns the body as text, the status and the outcome.
  func get(_ path: String, _ fields: [String: String] = [:]) async throws -> Got {
    let (data, response) = try await session.data(for: request(path, fields))
    return Got(data, response)
  }

  /// Downloads `/` in a transfer that breaks off.
  func breakOff(to target: URL) async {
    await #expect(throws: URLError.self) { try await session.download(for: request("/"), to: target) }
  }
}

struct Got: Sendable {
  let text: String
  let status: Int
  let response: URLResponse

  init(_ data: Data, _ response: URLResponse) {
    text = String(decoding: data, as: UTF8.self)
    status = (response as? HTTPURLResponse)?.statusCode ?? 0
    self.response = response
  }

  var isHit: Bool { if case .hit = response.cacheOutcome { true } else { false } }
  var isValidated: Bool { if case .validated = response.cacheOutcome { true } else { false } }
  func field(_ name: String) -> String? {
    (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name)
  }
}

/// The code of the `URLError` that `work` throws; nil if it throws none.
func urlErrorCode(_ work: () async throws -> Void) async -> URLError.Code? {
  do {
    try await work()
    return nil
  } catch {
    return (error as? URLError)?.code
  }
}
