import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching

/// A tier with one fault.
final class BrokenTier: SharedTier {
  enum Fault: String, CaseIterable, Sendable {
    case none
    case losesAge, mixesPartitions, forgetsTicket, keepsOldResponse, publishesWithoutBody, neverExpires
    case locksTwice, unlocksForAll, keepsLockAfterPublishing, ignoresTakeover, renewsForAll, waitsAfterRefusal
    case ignoresPosition, readsFromTheStart, losesKind, losesUID, losesScopes, changesNonce,
      forgetsNodes, keepsNodes
  }

  private let base: LoopbackTier
  private let fault: Fault

  var secret: [UInt8]? { nil }
  var largestBody: Int64 { base.largestBody }

  init(_ base: LoopbackTier, _ fault: Fault) {
    self.base = base
    self.fault = fault
  }

  func find(_ keys: [CacheKey]) async throws(SharedTierError) -> SharedFinding {
    let keys = fault == .mixesPartitions ? keys.map { CacheKey(mode: $0.mode, target: $0.target) } : keys
    let found = try await base.find(keys)
    guard fault == .losesAge || fault == .forgetsTicket else { return found }
    return SharedFinding(
      now: found.now,
      variants: found.variants.map { list in
        list.map { variant in
          SharedVariant(
            record: variant.record, age: fault == .losesAge ? 0 : variant.age, published: variant.published,
            ticket: fault == .forgetsTicket ? .start : variant.ticket, inlineBody: variant.inlineBody,
            body: variant.body)
        }
      })
  }

  func parts(
    _ numbers: Range<Int>, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) -> [[UInt8]]? { try await base.parts(numbers, of: body, for: key) }

  func write(
    _ bytes: [UInt8], part number: Int, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) { try await base.write(bytes, part: number, of: body, for: key) }

  func publish(_ publication: SharedPublication) async throws(SharedTierError) -> Bool {
    let variant = publication.variant
    if fault == .publishesWithoutBody, let body = variant.body {
      let key = variant.record.key
      for number in 0..<body.partCount {
        guard try await base.parts(number..<number + 1, of: body, for: key) == nil else { continue }
        try await base.write(
          [UInt8](repeating: 0, count: body.size(ofPart: number)), part: number, of: body, for: key)
      }
    }
    var ticket = variant.ticket
    // The response that stays is never the more recent one.
    if fault == .keepsOldResponse { ticket = SharedPosition(time: .max, number: ticket.number) }
    return try await base.publish(
      SharedPublication(
        variant: SharedVariant(
          record: variant.record, age: variant.age, published: variant.published, ticket: ticket,
          inlineBody: variant.inlineBody, body: variant.body),
        lifetime: fault == .neverExpires ? .seconds(9_999) : publication.lifetime,
        token: fault == .keepsLockAfterPublishing ? nil : publication.token))
  }

  func lock(
    _ key: CacheKey, token: String, ticket: SharedPosition, duration: Duration,
    overtaking overtaken: SharedPosition?
  ) async throws(SharedTierError) -> SharedLock {
    let lock = try await base.lock(
      key, token: token, ticket: ticket, duration: duration,
      overtaking: fault == .ignoresTakeover ? nil : overtaken)
    switch lock {
    case .held where fault == .locksTwice: return .acquired
    case .refused where fault == .waitsAfterRefusal: return .held(ticket: ticket)
    case .acquired, .held, .refused: return lock
    }
  }

  func renew(_ key: CacheKey, token: String, duration: Duration) async throws(SharedTierError) -> Bool {
    let isRenewed = try await base.renew(key, token: token, duration: duration)
    return isRenewed || fault == .renewsForAll
  }

  func unlock(_ key: CacheKey, token: String, refusingFor refusal: Duration?) async throws(SharedTierError) {
    try await base.unlock(key, token: fault == .unlocksForAll ? "a" : token, refusingFor: refusal)
  }

  func add(_ change: SharedChange, at position: SharedPosition?) async throws(SharedTierError)
    -> SharedPosition
  {
    let kind: SharedChange.Kind = fault == .losesKind ? .invalidate : change.kind
    let uid = fault == .losesUID ? "x" : change.uid
    return try await base.add(
      SharedChange(uid: uid, kind: kind, selection: change.selection),
      at: fault == .ignoresPosition ? nil : position)
  }

  func changes(
    after position: SharedPosition, waitingFor wait: Duration, limit: Int
  ) async throws(SharedTierError) -> SharedChanges {
    let read = try await base.changes(
      after: fault == .readsFromTheStart ? .start : position, waitingFor: wait, limit: limit)
    return SharedChanges(entries: read.entries, nonce: fault == .changesNonce ? read.nonce + "'" : read.nonce)
  }

  func state() async throws(SharedTierError) -> SharedState {
    let state = try await base.state()
    guard fault == .losesScopes else { return state }
    return SharedState(
      nonce: state.nonce, log: state.log, isCut: state.isCut,
      scopes: state.scopes.filter { $0.key == 0 })
  }

  func report(_ node: SharedNode) async throws(SharedTierError) {
    if fault != .forgetsNodes { try await base.report(node) }
  }

  func nodes() async throws(SharedTierError) -> [SharedNode] { try await base.nodes() }

  func leave(nodeName name: String) async throws(SharedTierError) {
    if fault != .keepsNodes { try await base.leave(nodeName: name) }
  }

  func wipe(mode: CacheMode, partition: String) async throws(SharedTierError) {
    try await base.wipe(mode: mode, partition: partition)
  }

  func close() async { await base.close() }
}
