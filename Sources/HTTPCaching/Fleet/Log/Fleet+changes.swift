import HTTPCacheSemantics
import HTTPCacheStore

/// Changes of this node that the other nodes make, too.
extension Fleet {
  /// Adds a change of this node to the log, or lets it wait. Behind a change that waits, it waits, too: a request that
  /// changes several targets must not wait for a deadline for each.
  ///
  /// A look-up between the change in the local store and the entry in the log can bring back what was changed: apply the
  /// change at once, and again after this call.
  ///
  /// - Returns: whether the change is in the log; else it waits.
  @discardableResult
  func add(_ kind: SharedChange.Kind, _ selection: CacheSelection) async -> Bool {
    let change = SharedChange(uid: Self.makeUID(), kind: kind, selection: selection)
    guard log.nextWaiting == nil, let connection = log.openConnection else {
      log.wait(change)
      return false
    }
    log.adding(change)
    if let position = await logged(change),
      log.added(change, at: position, connection: connection, uptime: clock.uptime)
    {
      return true
    }
    // The change may have been added: it keeps its uid when it is added again.
    log.wait(change)
    return false
  }

  /// Adds a change to the log.
  ///
  /// A change that waits keeps this node from using the tier, and the other nodes from making the change, until the
  /// follower's next heartbeat. So the tier is asked although the breaker is open, and a task of its own asks, which goes
  /// on if the caller is cancelled.
  ///
  /// - Returns: its position; nil if the tier failed.
  private func logged(_ change: SharedChange) async -> SharedPosition? {
    await Task(executorPreference: executor) { [self] () async -> SharedPosition? in
      do throws(SharedTierError) {
        return try await ask("add a change", isPastBreaker: true) { () async throws(SharedTierError) in
          try await tier.add(change, at: nil)
        }
      } catch {
        // `ask` has told the observer.
        return nil
      }
    }.value
  }

  /// Adds the changes that wait. A wipe is followed by that of the tier in the background, because a large tier takes long
  /// and the changes of other nodes must not wait for it; one that fails is not tried again.
  ///
  /// - Parameter apply: applies a change to the local store, after it was added.
  /// - Throws: `SharedTierError`; the rest still waits.
  func sendWaiting(_ apply: (SharedChange) async -> Void) async throws(SharedTierError) {
    while let change = log.nextWaiting {
      guard let connection = log.openConnection else { return }
      log.adding(change)
      let position = try await tier.add(change, at: nil)
      guard log.added(change, at: position, connection: connection, uptime: clock.uptime) else { return }
      await apply(change)
      log.sent(change)
      if change.kind == .wipe, case .partition(let mode, let partition) = change.selection {
        background.begin { [self] in await wipeTier(mode: mode, partition: partition) }
      }
    }
  }

  /// Removes the responses of a partition from the tier.
  func wipeTier(mode: CacheMode, partition: String) async {
    do throws(SharedTierError) {
      try await ask("wipe") { () async throws(SharedTierError) in
        try await tier.wipe(mode: mode, partition: partition)
      }
    } catch {
      // `ask` has told the observer. The change in the log overtakes what is left.
    }
  }

  /// A change that stands for others that this node cannot name.
  static func invalidationOfAll() -> SharedChange {
    SharedChange(uid: makeUID(), kind: .invalidate, selection: .all)
  }

  /// Random, so that no two nodes give one uid to different changes.
  private static func makeUID() -> String {
    let (high, low) = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
    return String(high, radix: 36) + String(low, radix: 36)
  }

  /// How many nodes have applied all changes of this node.
  ///
  /// - Parameter limit: how long to wait for the others.
  /// - Throws: `SharedTierError` if the tier cannot tell.
  func receipt(within limit: Duration) async throws(SharedTierError) -> FleetReceipt {
    let end = clock.uptime + limit
    while true {
      let facts = log.facts
      let others = try await ask("ask for the nodes") { () async throws(SharedTierError) in
        try await tier.nodes()
      }
      .filter { $0.name != options.nodeName }
      let receipt = FleetReceipt(
        applied: others.count(where: { $0.applied >= facts.lastAdded }) + 1, nodes: others.count + 1,
        pendingChanges: facts.outbox.count)
      guard !receipt.isComplete, clock.uptime < end else { return receipt }
      do { try await clock.sleep(for: min(.milliseconds(50), end - clock.uptime)) } catch { return receipt }
    }
  }
}
