import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching

/// The connection of one process with the tier of a world. Each call pauses before and after it takes effect, and has a
/// deadline.
///
/// `@unchecked Sendable` because only the thread that runs the simulation uses it.
final class SimulatedTier: SharedTier, @unchecked Sendable {
  let base: LoopbackTier
  private let server: LoopbackServer
  private let scheduler: Scheduler
  private let mutation: FleetPlan.Mutation?
  /// The last position that this process has read.
  private var read = SharedPosition.start
  private var own = SharedPosition.start
  /// Changes that are in the log, and not applied again yet.
  private var added: [CacheSelection] = []
  /// The changes that this process has tried to add, without those that a server had lost.
  private(set) var attempts: [SharedChange] = []

  let secret: [UInt8]? = [UInt8](repeating: 5, count: 32)
  let largestBody: Int64 = 1 << 20

  init(_ server: LoopbackServer, _ scheduler: Scheduler, _ mutation: FleetPlan.Mutation?) {
    base = LoopbackTier(server)
    self.server = server
    self.scheduler = scheduler
    self.mutation = mutation
  }

  /// Whether the second application of a change has to be left out; asked once for each.
  func skips(_ selection: CacheSelection) -> Bool {
    guard mutation == .appliesOnlyBefore, let index = added.firstIndex(of: selection) else { return false }
    added.remove(at: index)
    return true
  }

  private func call<Answer>(
    _ deadline: Duration, _ body: () async throws(SharedTierError) -> Answer
  ) async throws(SharedTierError) -> Answer {
    let end = scheduler.uptime + deadline
    try await wait(.tierBegin, end)
    let answer = try await body()
    try await wait(.tierEnd, max(end, scheduler.uptime + .milliseconds(1)))
    return answer
  }

  private func wait(_ place: Place, _ end: Duration) async throws(SharedTierError) {
    switch await scheduler.pause(place, until: end) {
    case .released: return
    case .timedOut: throw SharedTierError(.timeout, "simulated")
    case .cancelled: throw SharedTierError(.unreachable, "cancelled")
    }
  }

  // MARK: Responses

  func find(_ keys: [CacheKey]) async throws(SharedTierError) -> SharedFinding {
    try await call(LoopbackTier.Deadline.find) { () async throws(SharedTierError) in try await base.find(keys)
    }
  }

  func parts(
    _ numbers: Range<Int>, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) -> [[UInt8]]? {
    try await call(LoopbackTier.Deadline.part) { () async throws(SharedTierError) in
      try await base.parts(numbers, of: body, for: key)
    }
  }

  func write(
    _ bytes: [UInt8], part number: Int, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) {
    try await call(LoopbackTier.Deadline.part) { () async throws(SharedTierError) in
      try await base.write(bytes, part: number, of: body, for: key)
    }
  }

  func publish(_ publication: SharedPublication) async throws(SharedTierError) -> Bool {
    try await call(LoopbackTier.Deadline.publish) { () async throws(SharedTierError) in
      try await base.publish(changed(publication))
    }
  }

  private func changed(_ publication: SharedPublication) -> SharedPublication {
    let ticket: SharedPosition
    switch mutation {
    case .ticketAtPublication: ticket = read
    case .deletesWithoutPositions: ticket = SharedPosition(time: .max, number: .max)
    case .appliesOnlyBefore, .ownChangeCountsAsRead, .nothingAddedAgain, nil: return publication
    }
    let variant = publication.variant
    return SharedPublication(
      variant: SharedVariant(
        record: variant.record, age: variant.age, published: variant.published, ticket: ticket,
        inlineBody: variant.inlineBody, body: variant.body), lifetime: publication.lifetime,
      token: publication.token, lockedKey: publication.lockedKey)
  }

  // MARK: Locks

  func lock(
    _ key: CacheKey, token: String, ticket: SharedPosition, duration: Duration,
    overtaking overtaken: SharedPosition?
  ) async throws(SharedTierError) -> SharedLock {
    try await call(LoopbackTier.Deadline.find) { () async throws(SharedTierError) in
      try await base.lock(key, token: token, ticket: ticket, duration: duration, overtaking: overtaken)
    }
  }

  func renew(_ key: CacheKey, token: String, duration: Duration) async throws(SharedTierError) -> Bool {
    try await call(LoopbackTier.Deadline.find) { () async throws(SharedTierError) in
      try await base.renew(key, token: token, duration: duration)
    }
  }

  func unlock(_ key: CacheKey, token: String, refusingFor refusal: Duration?) async throws(SharedTierError) {
    try await call(LoopbackTier.Deadline.find) { () async throws(SharedTierError) in
      try await base.unlock(key, token: token, refusingFor: refusal)
    }
  }

  // MARK: Changes

  func add(_ change: SharedChange, at position: SharedPosition?) async throws(SharedTierError)
    -> SharedPosition
  {
    if position == nil { attempts.append(change) }
    return try await call(LoopbackTier.Deadline.part) { () async throws(SharedTierError) in
      if mutation == .nothingAddedAgain, let position { return position }
      let place = try await base.add(change, at: position)
      if mutation == .deletesWithoutPositions { server.evict(change.selection) }
      if mutation == .appliesOnlyBefore { added.append(change.selection) }
      own = max(own, place)
      return place
    }
  }

  func changes(
    after position: SharedPosition, waitingFor wait: Duration, limit: Int
  ) async throws(SharedTierError) -> SharedChanges {
    let found = try await call(wait + LoopbackTier.Deadline.part) { () async throws(SharedTierError) in
      try await base.changes(after: position, waitingFor: wait, limit: limit)
    }
    read = found.entries.last?.position ?? position
    guard mutation == .ownChangeCountsAsRead else { return found }
    return SharedChanges(entries: found.entries.filter { $0.position >= own }, nonce: found.nonce)
  }

  func state() async throws(SharedTierError) -> SharedState {
    own = .start
    return try await call(LoopbackTier.Deadline.part) { () async throws(SharedTierError) in
      try await base.state()
    }
  }

  // MARK: Nodes

  func report(_ node: SharedNode) async throws(SharedTierError) {
    try await call(LoopbackTier.Deadline.part) { () async throws(SharedTierError) in
      try await base.report(node)
    }
  }

  func nodes() async throws(SharedTierError) -> [SharedNode] {
    try await call(LoopbackTier.Deadline.part) { () async throws(SharedTierError) in try await base.nodes() }
  }

  func leave(nodeName name: String) async throws(SharedTierError) {
    try await call(LoopbackTier.Deadline.part) { () async throws(SharedTierError) in
      try await base.leave(nodeName: name)
    }
  }

  func wipe(mode: CacheMode, partition: String) async throws(SharedTierError) {
    try await call(LoopbackTier.Deadline.publish) { () async throws(SharedTierError) in
      try await base.wipe(mode: mode, partition: partition)
    }
  }

  func close() async { await base.close() }
}
