public import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPCaching

/// A tier in memory, for tests of caches that share one: the connection of one node with a `LoopbackServer`.
///
///     let server = LoopbackServer(clock: clock)
///     configuration.shared = LoopbackTier(server)
public final class LoopbackTier: SharedTier {
  struct Connection: Sendable {
    var generation: Int?
    /// The nonce of the log that this node has read last.
    var nonce: String?
    var isAway = false
    var delay = Duration.zero
    var isClosed = false
    var losesLockAnswers = false
    var onCall: (@Sendable (String) async -> Void)?
  }

  /// How long calls wait for an answer.
  public enum Deadline {
    /// Looking up a response, and locks.
    public static let find = Duration.milliseconds(50)
    /// A part of a body, a change, the state.
    public static let part = Duration.milliseconds(250)
    /// Publishing.
    public static let publish = Duration.seconds(5)
  }

  /// The key of digests.
  public let secret: [UInt8]?
  /// The largest body in bytes.
  public let largestBody: Int64
  let server: LoopbackServer
  let connection = WatchedState(Connection())

  /// Makes a connection.
  ///
  /// - Parameters:
  ///   - server: the server.
  ///   - secret: the key of digests.
  ///   - largestBody: the largest body in bytes.
  public init(_ server: LoopbackServer, secret: [UInt8]? = nil, largestBody: Int64 = 8 << 20) {
    self.server = server
    self.secret = secret
    self.largestBody = largestBody
  }

  // MARK: Faults

  /// Whether the server cannot be reached from this node.
  public var isAway: Bool {
    get { connection.withLock { $0.isAway } }
    set {
      connection.withLock { connection in
        connection.isAway = newValue
        if newValue { connection.generation = nil }
      }
      // A call that waits for changes ends.
      server.state.withLock { _ in }
    }
  }

  /// How late the server answers this node. A call fails when its deadline has passed.
  public var delay: Duration {
    get { connection.withLock { $0.delay } }
    set { connection.withLock { $0.delay = newValue } }
  }

  /// Whether the answers about locks come too late: the server has taken the lock.
  package var losesLockAnswers: Bool {
    get { connection.withLock { $0.losesLockAnswers } }
    set { connection.withLock { $0.losesLockAnswers = newValue } }
  }

  /// Called at the beginning of each call of this node, with the name of the function, such as `find`; nil for none.
  public var onCall: (@Sendable (String) async -> Void)? {
    get { connection.withLock { $0.onCall } }
    set { connection.withLock { $0.onCall = newValue } }
  }

  /// Whether the server has lost nothing since this node last read its state.
  package var hasMetServer: Bool {
    let connection = connection.withLock { $0 }
    return server.state.withLock { state in
      connection.generation == state.generation && connection.nonce != nil
        && connection.nonce == state.contents.nonce
    }
  }

  /// Whether the tier was closed.
  public var isClosed: Bool { connection.withLock { $0.isClosed } }

  func call(_ name: String, within deadline: Duration) async throws(SharedTierError) {
    server.state.withLock { $0.calls[name, default: 0] += 1 }
    await connection.withLock({ $0.onCall })?(name)
    let connection = connection.withLock { $0 }
    guard !connection.isAway, !connection.isClosed else {
      throw SharedTierError(.unreachable, "the server cannot be reached")
    }
    if connection.delay > .zero {
      do { try await server.clock.sleep(for: min(connection.delay, deadline)) } catch {
        throw SharedTierError(.unreachable, "cancelled")
      }
      guard connection.delay < deadline else {
        throw SharedTierError(.timeout, "no answer within \(deadline)")
      }
    }
    if let refusal = server.state.withLock({ $0.refusal }) { throw refusal }
  }

  // MARK: Responses

  /// The responses that are kept.
  ///
  /// - Throws: `SharedTierError`.
  public func find(_ keys: [CacheKey]) async throws(SharedTierError) -> SharedFinding {
    try await call("find", within: Deadline.find)
    let uptime = server.clock.uptime
    return server.state.withLock { state in
      SharedFinding(
        now: server.time(state),
        variants: keys.map { key in
          (state.contents.responses[key] ?? []).filter { $0.end > uptime }.map(\.variant)
        })
    }
  }

  /// Reads parts of a body.
  ///
  /// - Throws: `SharedTierError`.
  public func parts(
    _ numbers: Range<Int>, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) -> [[UInt8]]? {
    try await call("parts", within: Deadline.part)
    return server.state.withLock { state in
      var parts: [[UInt8]] = []
      for number in numbers {
        guard let part = state.contents.bodies[body.id]?[number] else { return nil }
        parts.append(part)
      }
      return parts
    }
  }

  /// Writes a part of a body.
  ///
  /// - Throws: `SharedTierError`.
  public func write(
    _ bytes: [UInt8], part number: Int, of body: SharedBody, for key: CacheKey
  ) async throws(SharedTierError) {
    try await call("write", within: Deadline.part)
    server.state.withLock { $0.contents.bodies[body.id, default: [:]][number] = bytes }
  }

  /// Makes a response found.
  ///
  /// - Throws: `SharedTierError`.
  public func publish(_ publication: SharedPublication) async throws(SharedTierError) -> Bool {
    try await call("publish", within: Deadline.publish)
    let end = server.clock.uptime + publication.lifetime
    return server.state.withLock { state in
      let new = publication.variant
      let key = new.record.key
      let lockedKey = publication.lockedKey ?? key
      if let token = publication.token, state.contents.locks[lockedKey]?.token == token {
        state.contents.locks[lockedKey] = nil
      }
      if let body = new.body {
        let parts = state.contents.bodies[body.id] ?? [:]
        guard (0..<body.partCount).allSatisfy({ parts[$0]?.count == body.size(ofPart: $0) }) else {
          return false
        }
      }
      var kept = state.contents.responses[key] ?? []
      if let place = kept.firstIndex(where: {
        $0.variant.record.response.nominated == new.record.response.nominated
      }) {
        if kept[place].variant.isMoreRecent(than: new) { return false }
        kept.remove(at: place)
      }
      kept.insert(
        LoopbackServer.Kept(
          variant: SharedVariant(
            record: new.record, age: new.age, published: server.time(state), ticket: new.ticket,
            inlineBody: new.inlineBody, body: new.body), end: end), at: 0)
      state.contents.responses[key] = Array(kept.prefix(LoopbackServer.variantLimit))
      return true
    }
  }

  // MARK: Locks

  /// Takes the lock of a key.
  ///
  /// - Throws: `SharedTierError`.
  public func lock(
    _ key: CacheKey, token: String, ticket: SharedPosition, duration: Duration,
    overtaking overtaken: SharedPosition?
  ) async throws(SharedTierError) -> SharedLock {
    try await call("lock", within: Deadline.find)
    let uptime = server.clock.uptime
    let answer = server.state.withLock { state -> SharedLock in
      if let lock = state.contents.locks[key], lock.end > uptime {
        guard lock.token != nil else { return .refused }
        guard lock.ticket == overtaken else { return .held(ticket: lock.ticket) }
      }
      state.contents.locks[key] = LoopbackServer.Lock(token: token, ticket: ticket, end: uptime + duration)
      return .acquired
    }
    if losesLockAnswers { throw SharedTierError(.timeout, "no answer within \(Deadline.find)") }
    return answer
  }

  /// Renews a lock.
  ///
  /// - Throws: `SharedTierError`.
  public func renew(_ key: CacheKey, token: String, duration: Duration) async throws(SharedTierError) -> Bool
  {
    try await call("renew", within: Deadline.find)
    let uptime = server.clock.uptime
    return server.state.withLock { state in
      guard let lock = state.contents.locks[key], lock.token == token, lock.end > uptime else { return false }
      state.contents.locks[key] = LoopbackServer.Lock(
        token: token, ticket: lock.ticket, end: uptime + duration)
      return true
    }
  }

  /// Ends a lock.
  ///
  /// - Throws: `SharedTierError`.
  public func unlock(
    _ key: CacheKey, token: String, refusingFor refusal: Duration?
  ) async throws(SharedTierError) {
    try await call("unlock", within: Deadline.find)
    let uptime = server.clock.uptime
    server.state.withLock { state in
      guard state.contents.locks[key]?.token == token else { return }
      state.contents.locks[key] = refusal.map {
        LoopbackServer.Lock(token: nil, ticket: .start, end: uptime + $0)
      }
    }
  }
}
