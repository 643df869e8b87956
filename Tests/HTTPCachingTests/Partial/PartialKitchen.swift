import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

/// The places that a cache may keep responses in.
enum StoreKind: CaseIterable, CustomTestStringConvertible {
  case memory, disk, memoryOverDisk

  var testDescription: String { "\(self)" }
}

/// A kitchen over a store of a kind, with an origin that answers ranges.
final class PartialKitchen: Sendable {
  let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
  let events = EventLog()
  let origin: RangeOrigin
  let cache: HTTPCache
  let directory: URL?

  init(
    _ kind: StoreKind, origin: RangeOrigin = RangeOrigin(count: 26), rules: CacheRules = CacheRules(),
    configure: (inout HTTPCache.Configuration) -> Void = { _ in }
  ) throws {
    self.origin = origin
    directory =
      kind == .memory
      ? nil
      : FileManager.default.temporaryDirectory.appendingPathComponent("partial-\(UUID())")
    var configuration = HTTPCache.Configuration(
      directory: directory?.path, memoryCapacity: kind == .disk ? 0 : 32 << 20,
      diskCapacity: 64 << 20, rules: rules, cacheStatusName: "test", observer: events, clock: clock)
    configure(&configuration)
    cache = try HTTPCache.open(configuration)
  }

  deinit { if let directory { try? FileManager.default.removeItem(at: directory) } }

  func respond(
    _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, policy: CachePolicy = .standard
  ) async throws -> CacheResponse {
    try await cache.respond(
      to: HTTPRequest(
        method: method, scheme: "https", authority: "example.com", path: "/", headerFields: fields),
      policy: policy, via: origin)
  }

  @discardableResult
  func get(
    _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, policy: CachePolicy = .standard
  ) async throws -> Kitchen.Answer {
    let response = try await respond(fields, method: method, policy: policy)
    let body = try await response.body.collect()
    return Kitchen.Answer(
      head: response.head, text: String(decoding: body.array, as: UTF8.self),
      outcome: response.outcome, redirects: [], trailers: [:])
  }

  @discardableResult
  func range(_ value: String, policy: CachePolicy = .standard) async throws -> Kitchen.Answer {
    try await get([.range: value], policy: policy)
  }

  /// Begins to read the whole body, and lets the origin break off after `count` bytes.
  func breakOff(after count: Int) async throws {
    origin.breaks(after: count)
    let before = events.count(Self.isEnd)
    let response = try await respond()
    await #expect(throws: UpstreamError.self) { try await response.body.collect() }
    await events.wait(count: before + 1, Self.isEnd)
    origin.breaks(after: nil)
  }

  @Sendable static func isEnd(_ event: CacheEvent) -> Bool {
    switch event {
    case .kept, .notStored: true
    default: false
    }
  }

  func lastRequest() throws -> HTTPFields { try #require(origin.requests.last).headerFields }
}
