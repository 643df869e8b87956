import HTTPCacheSemantics
import HTTPCaching

/// A tier that never answers, for rows that must not ask one.
struct StillTier: SharedTier {
  private static let error = SharedTierError(.unreachable, "a tier without a server")

  var secret: [UInt8]? { nil }
  var largestBody: Int64 { 8 << 20 }

  func find(_ keys: [CacheKey]) async throws(SharedTierError) -> SharedFinding { throw Self.error }

  func parts(
    _ numbers: Range<Int>, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) -> [[UInt8]]? { throw Self.error }

  func write(
    _ bytes: [UInt8], part number: Int, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) { throw Self.error }

  func publish(_ publication: SharedPublication) async throws(SharedTierError) -> Bool { throw Self.error }

  func lock(
    _ key: CacheKey, token: String, ticket: SharedPosition, duration: Duration,
    overtaking overtaken: SharedPosition?
  ) async throws(SharedTierError) -> SharedLock { throw Self.error }

  func renew(_ key: CacheKey, token: String, duration: Duration) async throws(SharedTierError) -> Bool {
    throw Self.error
  }

  func unlock(_ key: CacheKey, token: String, refusingFor refusal: Duration?) async throws(SharedTierError) {
    throw Self.error
  }

  func add(
    _ change: SharedChange, at position: SharedPosition?
  ) async throws(SharedTierError) -> SharedPosition { throw Self.error }

  func changes(
    after position: SharedPosition, waitingFor wait: Duration, limit: Int
  ) async throws(SharedTierError) -> SharedChanges { throw Self.error }

  /// Waits until its task is cancelled, so that nothing runs beside a row.
  func state() async throws(SharedTierError) -> SharedState {
    try? await Task.sleep(for: .seconds(1_000_000))
    throw Self.error
  }

  func report(_ node: SharedNode) async throws(SharedTierError) { throw Self.error }

  func nodes() async throws(SharedTierError) -> [SharedNode] { throw Self.error }

  func wipe(mode: CacheMode, partition: String) async throws(SharedTierError) { throw Self.error }

  func close() async {}
}
