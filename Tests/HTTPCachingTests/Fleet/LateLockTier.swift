import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching

/// A tier that takes locks, and whose answers about them come too late.
final class LateLockTier: SharedTier {
  private let base: any SharedTier

  init(_ base: any SharedTier) { self.base = base }

  var secret: [UInt8]? { base.secret }
  var largestBody: Int64 { base.largestBody }

  func lock(
    _ key: CacheKey, token: String, ticket: SharedPosition, duration: Duration,
    overtaking overtaken: SharedPosition?
  ) async throws(SharedTierError) -> SharedLock {
    _ = try await base.lock(key, token: token, ticket: ticket, duration: duration, overtaking: overtaken)
    throw SharedTierError(.timeout, "late")
  }

  func find(_ keys: [CacheKey]) async throws(SharedTierError) -> SharedFinding { try await base.find(keys) }

  func parts(
    _ numbers: Range<Int>, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) -> [[UInt8]]? { try await base.parts(numbers, of: body, for: key) }

  func write(
    _ bytes: [UInt8], part number: Int, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) { try await base.write(bytes, part: number, of: body, for: key) }

  func publish(_ publication: SharedPublication) async throws(SharedTierError) -> Bool {
    try await base.publish(publication)
  }

  func renew(_ key: CacheKey, token: String, duration: Duration) async throws(SharedTierError) -> Bool {
    try await base.renew(key, token: token, duration: duration)
  }

  func unlock(_ key: CacheKey, token: String, refusingFor refusal: Duration?) async throws(SharedTierError) {
    try await base.unlock(key, token: token, refusingFor: refusal)
  }

  func add(
    _ change: SharedChange, at position: SharedPosition?
  ) async throws(SharedTierError) -> SharedPosition { try await base.add(change, at: position) }

  func changes(
    after position: SharedPosition, waitingFor wait: Duration, limit: Int
  ) async throws(SharedTierError) -> SharedChanges {
    try await base.changes(after: position, waitingFor: wait, limit: limit)
  }

  func state() async throws(SharedTierError) -> SharedState { try await base.state() }

  func report(_ node: SharedNode) async throws(SharedTierError) { try await base.report(node) }

  func nodes() async throws(SharedTierError) -> [SharedNode] { try await base.nodes() }

  func leave(nodeName name: String) async throws(SharedTierError) { try await base.leave(nodeName: name) }

  func wipe(mode: CacheMode, partition: String) async throws(SharedTierError) {
    try await base.wipe(mode: mode, partition: partition)
  }

  func close() async { await base.close() }
}
