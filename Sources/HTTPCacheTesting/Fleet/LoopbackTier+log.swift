public import HTTPCacheSemantics
import HTTPCacheStore
public import HTTPCaching

/// The log of changes, and the nodes.
extension LoopbackTier {
  // MARK: Changes

  /// Adds a change.
  ///
  /// - Throws: `SharedTierError`.
  public func add(
    _ change: SharedChange, at position: SharedPosition?
  ) async throws(SharedTierError) -> SharedPosition {
    try await call("add", within: Deadline.part)
    return server.state.withLock { state in
      let last = state.contents.highest
      let time = UInt64(max(0, server.time(state)))
      var place =
        time > last.time
        ? SharedPosition(time: time, number: 0) : SharedPosition(time: last.time, number: last.number + 1)
      if let position, position > last { place = position }
      state.contents.last = place
      state.contents.log.append(SharedLogEntry(position: place, change: change))
      if state.contents.log.count > server.logLimit {
        state.contents.log.removeFirst()
        state.contents.isCut = true
      }
      for number in change.scopeClasses {
        state.contents.scopes[number] = place
      }
      return place
    }
  }

  /// The next changes.
  ///
  /// - Throws: `SharedTierError`.
  public func changes(
    after position: SharedPosition, waitingFor wait: Duration, limit: Int
  ) async throws(SharedTierError) -> SharedChanges {
    try await call("changes", within: Deadline.part)
    try checkConnection()
    if wait > .zero { await waitForChange(after: position, wait) }
    try checkConnection()
    return server.state.withLock { state in
      SharedChanges(
        entries: Array(state.contents.log.filter { $0.position > position }.prefix(limit)),
        nonce: state.contents.nonce ?? "")
    }
  }

  private func checkConnection() throws(SharedTierError) {
    let connection = connection.withLock { $0 }
    guard !connection.isAway, !connection.isClosed, !Task.isCancelled,
      connection.generation == server.state.withLock({ $0.generation })
    else { throw SharedTierError(.unreachable, "the connection broke") }
    if let refusal = server.state.withLock({ $0.refusal }) { throw refusal }
  }

  private func waitForChange(after position: SharedPosition, _ wait: Duration) async {
    let generation = server.state.withLock { $0.generation }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [server, connection] in
        await server.state.wait { state in
          state.generation != generation || state.refusal != nil
            || connection.withLock { $0.isAway || $0.isClosed }
            || state.contents.log.last.map { $0.position > position } ?? false
        }
      }
      group.addTask { [server] in
        do { try await server.clock.sleep(for: wait) } catch { return }
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// The log and the positions of scopes.
  ///
  /// - Throws: `SharedTierError`.
  public func state() async throws(SharedTierError) -> SharedState {
    try await call("state", within: Deadline.part)
    let (state, generation) = server.state.withLock { state in
      if state.contents.nonce == nil {
        state.nonces += 1
        state.contents.nonce = "nonce-\(state.nonces)"
        // Responses may be left of the time before the loss.
        let time = UInt64(max(0, server.time(state) - 1))
        state.contents.scopes[0] = max(
          state.contents.scopes[0] ?? .start, SharedPosition(time: time, number: 0))
      }
      let shared = SharedState(
        nonce: state.contents.nonce ?? "", log: state.contents.log, isCut: state.contents.isCut,
        scopes: state.contents.scopes)
      return (shared, state.generation)
    }
    connection.withLock { ($0.generation, $0.nonce) = (generation, state.nonce) }
    return state
  }

  // MARK: Nodes

  /// Tells how far a node has applied the log.
  ///
  /// - Throws: `SharedTierError`.
  public func report(_ node: SharedNode) async throws(SharedTierError) {
    try await call("report", within: Deadline.part)
    server.state.withLock { state in
      state.contents.nodes[node.name] = SharedNode(
        name: node.name, applied: node.applied, seen: server.time(state))
    }
  }

  /// The nodes that told of themselves in the last 10 s.
  ///
  /// - Throws: `SharedTierError`.
  public func nodes() async throws(SharedTierError) -> [SharedNode] {
    try await call("nodes", within: Deadline.part)
    return server.state.withLock { state in
      let now = server.time(state)
      return state.contents.nodes.values.filter { abs(now - $0.seen) <= 10_000 }.sorted { $0.name < $1.name }
    }
  }

  /// Forgets a node.
  ///
  /// - Throws: `SharedTierError`.
  public func leave(nodeName name: String) async throws(SharedTierError) {
    try await call("leave", within: Deadline.part)
    server.state.withLock { _ = $0.contents.nodes.removeValue(forKey: name) }
  }

  // MARK: Housekeeping

  /// Removes all responses of a partition.
  ///
  /// - Throws: `SharedTierError`.
  public func wipe(mode: CacheMode, partition: String) async throws(SharedTierError) {
    try await call("wipe", within: Deadline.publish)
    server.state.withLock { state in
      state.contents.responses = state.contents.responses.filter {
        $0.key.mode != mode || $0.key.partition != partition
      }
    }
  }

  /// Closes the connection.
  public func close() async {
    connection.withLock { $0.isClosed = true }
    server.state.withLock { _ in }
  }
}
