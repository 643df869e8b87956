import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Rows about complete answers of 1 KiB from memory, beside Foundation's `URLCache`.
func memoryHitRows() throws -> [Row] {
  let clock = HandClock()
  let store = MemoryStore(capacity: 64 << 20, clock: clock)
  let cache = HTTPCache(
    configuration: HTTPCache.Configuration(clock: clock), store: store)
  let bytes = [UInt8](repeating: 0x61, count: 1_024)
  let requests = (0..<64).map { Samples.request($0) }
  for (index, request) in requests.enumerated() {
    let response = Samples.response([0, 1, 2, 4, 5][index % 5])
    guard let target = CacheKey.target(of: request), case let key = CacheKey(mode: .private, target: target),
      let stored = Samples.stored(request, response, rules: CacheRules(mode: .private))
    else { continue }
    let record = CacheRecord(key: key, response: stored, bodyLength: Int64(bytes.count))
    _ = try Waiting.run {
      let writer = try await store.write(record, variantLimit: 32)
      try await writer.append(BodyBytes(bytes))
      try await writer.commit(trailers: [:])
    }
  }
  var hits = 0
  for request in requests where cache.peek(request) != nil { hits += 1 }
  guard hits == requests.count else { throw BenchmarkError.misses(requests.count - hits) }

  var rules = CacheRules()
  rules.overrides = try overrides()
  let overridden = HTTPCache(
    configuration: HTTPCache.Configuration(rules: rules, clock: clock), store: store)
  rules.overrides += [
    RuleOverride(effects: [.lifetime(.exactly(.seconds(999_999_999))), .droppingQuery(["utm_*"])])
  ]
  let rewritten = HTTPCache(
    configuration: HTTPCache.Configuration(rules: rules, clock: clock), store: store)

  return [
    Row("peek, 1 KiB, nine overrides, none matches", count: requests.count) {
      var sum = 0
      for request in requests { sum &+= overridden.peek(request)?.head.status.code ?? 0 }
      return sum
    },
    Row("peek, 1 KiB, ten overrides, one matches", count: requests.count) {
      var sum = 0
      for request in requests { sum &+= rewritten.peek(request)?.head.status.code ?? 0 }
      return sum
    },
    Row("peek, 1 KiB", count: requests.count) {
      var sum = 0
      for request in requests { sum &+= cache.peek(request)?.head.status.code ?? 0 }
      return sum
    },
    Row("peek, 1 KiB, each in a new second", count: requests.count) {
      clock.tick()
      var sum = 0
      for request in requests { sum &+= cache.peek(request)?.head.status.code ?? 0 }
      return sum
    },
    urlCacheRow(requests, body: Data(bytes)),
  ]
}

/// Overrides of each kind except expressions; no request of the rows matches them.
private func overrides() throws -> [RuleOverride] {
  let targets: [TargetPattern] = [
    try .host("api.example.com"), try .host("*.cdn.example.com"), try .host("example.org:8080"),
    try .prefix("https://www.example.com/static/"), try .prefix("https://files.example.com/"),
    try .glob("/images/**/*.png"), try .glob("https://*.example.com/**.mp4"), try .glob("**/private/**"),
    .matching("posts") { $0.method == .post },
  ]
  return targets.map { RuleOverride($0, effects: [.lifetime(.exactly(.seconds(60)))]) }
}

private func urlCacheRow(_ requests: [HTTPRequest], body: Data) -> Row {
  var asked: [URLRequest] = []
  // Made at the first call, so that its threads do not run during other rows.
  let made = Lazy {
    let cache = URLCache(memoryCapacity: 64 << 20, diskCapacity: 0, diskPath: nil)
    for (index, request) in requests.enumerated() {
      // One path each: on Linux the key of `URLCache` does not include the query.
      guard let url = URL(string: "https://www.example.com/news/article-\(index)"),
        let response = HTTPURLResponse(
          url: url, statusCode: 200, httpVersion: "HTTP/1.1",
          headerFields: Dictionary(
            Samples.response(1).headerFields.map { ($0.name.rawName, $0.value) },
            uniquingKeysWith: { first, _ in first }))
      else { continue }
      var urlRequest = URLRequest(url: url)
      for field in request.headerFields {
        urlRequest.setValue(field.value, forHTTPHeaderField: field.name.rawName)
      }
      cache.storeCachedResponse(CachedURLResponse(response: response, data: body), for: urlRequest)
      asked.append(urlRequest)
    }
    return cache
  }
  return Row("Foundation URLCache, 1 KiB", count: requests.count, isPeer: true) {
    let cache = made.value
    var sum = 0
    for request in asked { sum &+= cache.cachedResponse(for: request)?.data.count ?? 0 }
    if sum != asked.count * body.count { print("URLCache misses") }
    return sum
  }
}

private final class Lazy<Value> {
  private let make: () -> Value
  private(set) lazy var value = make()

  init(_ make: @escaping () -> Value) { self.make = make }
}

enum BenchmarkError: Error {
  case misses(Int)
  case sqlite(String)
  case system(String)
}

/// A clock that alternates between two seconds on request, so that entries stay fresh.
private final class HandClock: CacheClock {
  private let ticks = Atomic<Int64>(0)

  var now: Timestamp { Timestamp(seconds: Samples.now.seconds + 10 + ticks.load(ordering: .relaxed)) }
  var uptime: Duration { .zero }
  func tick() { ticks.bitwiseXor(1, ordering: .relaxed) }
  func sleep(for duration: Duration) async throws {}
}
