import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

/// A cache with an origin, a clock that stands still, and the events so far.
final class TestCache<Origin: Upstream>: Sendable {
  let clock: ManualClock
  let origin: Origin
  let events: EventLog
  let cache: HTTPCache
  private let folder: ScratchFolder?
  var directory: URL? { folder?.url("cache") }

  private init(
    _ origin: Origin, _ clock: ManualClock, _ events: EventLog, _ cache: HTTPCache, _ folder: ScratchFolder?
  ) {
    (self.origin, self.clock, self.events, self.cache, self.folder) = (origin, clock, events, cache, folder)
  }

  /// Over a store, or one in memory.
  convenience init(
    origin: Origin, rules: CacheRules = CacheRules(), store: (any CacheStore)? = nil,
    largestEntry: LargestEntry = .bytes(32 << 20),
    configure: (inout HTTPCache.Configuration) -> Void = { _ in }
  ) {
    let (clock, events) = (ManualClock(now: Timestamp(seconds: 1_700_000_000)), EventLog())
    var configuration = HTTPCache.Configuration(rules: rules, observer: events, clock: clock)
    configure(&configuration)
    let cache = HTTPCache(
      configuration: configuration,
      store: store ?? MemoryStore(capacity: 64 << 20, largestEntry: largestEntry, clock: clock))
    self.init(origin, clock, events, cache, nil)
  }

  /// Over a store of a kind, which may be in a directory of its own.
  convenience init(
    _ kind: StoreKind, origin: Origin, rules: CacheRules = CacheRules(),
    configure: (inout HTTPCache.Configuration) -> Void = { _ in }
  ) throws {
    let (clock, events) = (ManualClock(now: Timestamp(seconds: 1_700_000_000)), EventLog())
    let folder = try kind == .memory ? nil : ScratchFolder()
    var configuration = HTTPCache.Configuration(
      directory: folder?.path("cache"), memoryCapacity: kind == .disk ? 0 : 32 << 20,
      diskCapacity: 64 << 20, rules: rules, cacheStatusName: "test", observer: events, clock: clock)
    configure(&configuration)
    self.init(origin, clock, events, try HTTPCache.open(configuration), folder)
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
  ) async throws -> TestAnswer {
    let response = try await respond(path, fields, method: method, policy: policy, options: options)
    return try await TestAnswer(reading: response)
  }
}

/// A response, read to its end.
struct TestAnswer: Sendable {
  let head: HTTPResponse
  let text: String
  let outcome: CacheOutcome
  let redirects: [CacheOutcome]
  let trailers: HTTPFields
  var status: Int { head.status.code }

  init(reading response: CacheResponse) async throws {
    (head, outcome, redirects) = (response.head, response.outcome, response.redirects)
    text = String(decoding: try await response.body.collect().array, as: UTF8.self)
    trailers = response.body.trailers
  }
}

/// Overwrites a byte of a file with one that no text has.
func overwrite(_ path: String, at offset: UInt64) throws {
  let handle = try #require(FileHandle(forUpdatingAtPath: path))
  try handle.seek(toOffset: offset)
  try handle.write(contentsOf: Data([0xFF]))
  try handle.close()
}

/// The places that a cache may keep responses in.
enum StoreKind: CaseIterable, CustomTestStringConvertible {
  case memory, disk, memoryOverDisk

  var testDescription: String { "\(self)" }
}

extension TestCache where Origin == TestOrigin {
  convenience init(
    rules: CacheRules = CacheRules(), store: (any CacheStore)? = nil,
    largestEntry: LargestEntry = .bytes(32 << 20),
    configure: (inout HTTPCache.Configuration) -> Void = { _ in }
  ) {
    self.init(
      origin: TestOrigin(), rules: rules, store: store, largestEntry: largestEntry, configure: configure)
  }

  /// Stores a 200 of the origin, and lets time pass.
  func store(
    _ fields: HTTPFields, _ text: String, at path: String = "/", age: Int64 = 0
  ) async throws {
    origin.always(200, fields, text)
    try await get(path)
    clock.advance(by: age)
  }
}

/// One resource, whose origin answers ranges.
extension TestCache where Origin == RangeOrigin {
  convenience init(
    _ kind: StoreKind, rules: CacheRules = CacheRules(),
    configure: (inout HTTPCache.Configuration) -> Void = { _ in }
  ) throws {
    try self.init(kind, origin: RangeOrigin(count: 26), rules: rules, configure: configure)
  }

  func respond(
    _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, policy: CachePolicy = .standard
  ) async throws -> CacheResponse {
    try await respond("/", fields, method: method, policy: policy)
  }

  @discardableResult
  func get(
    _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, policy: CachePolicy = .standard
  ) async throws -> TestAnswer {
    try await get("/", fields, method: method, policy: policy)
  }

  @discardableResult
  func range(_ value: String, policy: CachePolicy = .standard) async throws -> TestAnswer {
    try await get([.range: value], policy: policy)
  }

  /// Begins to read the whole body, and lets the origin break off after `count` bytes.
  func breakOff(after count: Int) async throws {
    origin.breaks(after: count)
    let before = events.count(EventLog.isEnd)
    let response = try await respond()
    await #expect(throws: UpstreamError.self) { try await response.body.collect() }
    await events.wait(count: before + 1, EventLog.isEnd)
    origin.breaks(after: nil)
  }

  func lastRequest() throws -> HTTPFields { try #require(origin.requests.last).headerFields }
}

extension EventLog {
  /// Whether an event ends a transfer that is not stored whole.
  @Sendable static func isEnd(_ event: CacheEvent) -> Bool {
    switch event {
    case .kept, .notStored: true
    default: false
    }
  }
}
