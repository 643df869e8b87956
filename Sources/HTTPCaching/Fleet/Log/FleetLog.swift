import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The state of a node beside the log of changes: how far it has read, which scopes were changed last, which changes it would
/// add again, and which of its own wait to be added.
///
/// A handshake begins a new *connection*. What was begun under an earlier one does not count any more: its server may
/// have lost it.
final class FleetLog: Sendable {
  struct State: Sendable {
    var scopes = SharedScopes()
    var read = ReadPosition.start
    /// The highest position of a change of this node in this connection, and of the table of the handshake. It never moves
    /// `read`: changes of other nodes may be between the two.
    var own = SharedPosition.start
    /// The highest position of a change that this node has added in any connection.
    var lastAdded = SharedPosition.start
    var remembered = RememberedChanges()
    /// The changes that wait to be added.
    var outbox: [SharedChange] = []
    /// Own changes whose callers apply them after they were added: reading them does not apply them once more.
    var echoes: Set<String> = []
    var nonce = ""
    var connection = 0
    var isConnected = false
    var hasConnected = false
    /// The last sign of life, by the clock's `uptime`.
    var lastContact: Duration?
    /// The tasks that wait for a connection.
    var waiting: [ObjectIdentifier: OneShot<Void>] = [:]
  }

  /// The number of changes that wait to be added; beyond it, one invalidation of everything takes their place.
  static let outboxLimit = 1_024

  private let state = Mutex(State())
  // Atomic, because each miss reads it.
  private let usable = Atomic<Bool>(false)
  /// Until when entries of this node may be used, in milliseconds of the clock's `uptime`; negative as long as nothing is
  /// known. Atomic, because each hit reads it.
  private let entriesUsableUntil = Atomic<Int64>(-1)

  // MARK: For requests

  /// Whether the node has read all changes, and its own are in the log, so that look-ups give nothing that is outdated.
  var isUsable: Bool { usable.load(ordering: .acquiring) }

  /// The position that a request has which is sent now.
  var ticket: SharedPosition { state.withLock { max($0.read.position, $0.own) } }

  /// Whether a change after a ticket may select a response. Parameters as of `SharedScopes.isOvertaken`.
  func isOvertaken(
    _ key: CacheKey, groups: [String]?, requestTarget: String?, since ticket: SharedPosition
  ) -> Bool {
    state.withLock {
      $0.scopes.isOvertaken(key, groups: groups, requestTarget: requestTarget, since: ticket)
    }
  }

  /// Whether a change after a ticket may select a response that is stored. Parameters as of `SharedScopes.isOvertaken`.
  func isOvertaken(_ record: CacheRecord, requestTarget: String?, since ticket: SharedPosition) -> Bool {
    state.withLock { $0.scopes.isOvertaken(record, requestTarget: requestTarget, since: ticket) }
  }

  // MARK: Own changes

  /// The number of the connection in which a change may be added now; nil if it has to wait.
  var openConnection: Int? { state.withLock { $0.isConnected ? $0.connection : nil } }

  /// Notes that a change was added.
  ///
  /// - Returns: false if the connection has ended meanwhile, so that the change must be added again.
  func added(_ change: SharedChange, at position: SharedPosition, connection: Int, uptime: Duration) -> Bool {
    state.withLock { state in
      state.scopes.note(change, at: position)
      guard state.connection == connection else { return false }
      state.remembered.note(change, at: position, uptime: uptime)
      state.own = max(state.own, position)
      state.lastAdded = max(state.lastAdded, position)
      return true
    }
  }

  /// Notes that this node is about to add a change, and applies it afterwards.
  ///
  /// If the follower applied the change, too, it could remove a response that was fetched after the change.
  func adding(_ change: SharedChange) {
    state.withLock { state in
      // bounded: after a loss, an entry may never come back.
      if state.echoes.count >= Self.outboxLimit { state.echoes.removeAll() }
      state.echoes.insert(change.uid)
    }
  }

  /// Lets a change wait until it can be added.
  func wait(_ change: SharedChange) {
    state.withLock { state in
      if state.outbox.count >= Self.outboxLimit {
        state.outbox = [Fleet.invalidationOfAll()]
      } else {
        state.outbox.append(change)
      }
      update(&state)
    }
  }

  /// The next change that waits to be added.
  var nextWaiting: SharedChange? { state.withLock { $0.outbox.first } }

  /// Notes that the change no longer waits.
  func sent(_ change: SharedChange) {
    state.withLock { state in
      state.outbox.removeAll { $0.uid == change.uid }
      update(&state)
    }
  }

  // MARK: The connection

  /// The steps of a node that connects, given the state of the log.
  ///
  /// - Parameters:
  ///   - saved: the position that the directory keeps; used only for the first connection of the process.
  ///   - hasEntries: whether the store has entries; asked only for the first connection.
  ///   - longestAbsence: how long other nodes remember changes at least.
  func reconciliation(
    with shared: SharedState, saved: SavedPosition?, hasEntries: Bool, longestAbsence: Duration,
    uptime: Duration
  ) -> FleetReconciliation {
    state.withLock { state in
      state.isConnected = false
      state.connection += 1
      update(&state)
      guard state.hasConnected else {
        return FleetReconciliation(with: shared, after: saved, hasEntries: hasEntries)
      }
      let wasAbsent = state.lastContact.map { uptime - $0 > longestAbsence } ?? false
      return FleetReconciliation(
        with: shared, after: state.read, remembered: state.remembered, wasAbsent: wasAbsent)
    }
  }

  /// Takes over what a handshake found.
  func begin(_ shared: SharedState, at read: ReadPosition) {
    state.withLock { state in
      state.read = read
      state.remembered.note(unknown: read)
      // A request that is sent from now on gets a response that is later than all changes of the table.
      state.own = shared.scopes.values.max() ?? .start
      state.nonce = shared.nonce
      state.scopes.merge(shared.scopes)
      // The server may have lost the table, or a part of it, without the log.
      for entry in shared.log { state.scopes.note(entry.change, at: entry.position) }
    }
  }

  /// Notes a change that was added again.
  func restored(_ change: SharedChange, at position: SharedPosition, uptime: Duration) {
    state.withLock { state in
      state.scopes.note(change, at: position)
      state.remembered.note(change, at: position, uptime: uptime)
      state.lastAdded = max(state.lastAdded, position)
    }
  }

  /// The handshake is over: the node has applied all changes.
  ///
  /// - Parameter asked: when the state of the log was asked for, by the clock's `uptime`. The node knows nothing of later
  ///   changes yet.
  func connected(asked: Duration) {
    let waiting = state.withLock { state in
      state.isConnected = true
      state.hasConnected = true
      state.lastContact = asked
      update(&state)
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for waiter in waiting { waiter.give(()) }
  }

  /// The connection is lost.
  ///
  /// - Returns: whether there was one.
  func disconnected() -> Bool {
    state.withLock { state in
      defer {
        state.isConnected = false
        update(&state)
      }
      return state.isConnected
    }
  }

  private func update(_ state: inout State) {
    usable.store(state.isConnected && state.outbox.isEmpty, ordering: .releasing)
  }

  // MARK: Reading

  /// Notes an entry before it is applied: look-ups do not use what it overtakes from here on.
  ///
  /// - Returns: whether it has to be applied; not for a change that this node has applied already.
  func note(_ entry: SharedLogEntry, uptime: Duration) -> Bool {
    state.withLock { state in
      state.scopes.note(entry.change, at: entry.position)
      guard let change = entry.change else { return true }
      state.remembered.note(change, at: entry.position, uptime: uptime)
      return state.echoes.remove(change.uid) == nil
    }
  }

  /// Raises the scopes of further selections that a change concerns on this node.
  func raise(_ kind: SharedChange.Kind, _ selections: [CacheSelection], at position: SharedPosition) {
    state.withLock { state in
      for selection in selections {
        state.scopes.note(SharedChange(uid: "", kind: kind, selection: selection), at: position)
      }
    }
  }

  /// Moves the position past an entry, after it was applied: a request with this ticket has seen the change.
  func passed(_ entry: SharedLogEntry) { state.withLock { $0.read = ReadPosition(entry) } }

  /// Notes a sign of life.
  ///
  /// - Returns: whether the log is still the one of the handshake.
  func heard(nonce: String, uptime: Duration) -> Bool {
    state.withLock { state in
      guard state.nonce == nonce else { return false }
      state.lastContact = uptime
      return true
    }
  }

  // MARK: The bound of staleness

  /// Whether entries of this node may be used. They may not once twice the bound of staleness has passed without a look at
  /// the log or an invalidation: then the process was paused, and cannot have watched its bound.
  func mayUseEntries(uptime: Duration) -> Bool {
    let end = entriesUsableUntil.load(ordering: .acquiring)
    return end < 0 || uptime.milliseconds <= end
  }

  /// Notes that entries of this node are no older than the log at a time, by the clock's `uptime`.
  func entriesAreCurrent(asOf time: Duration, bound: Duration) {
    entriesUsableUntil.max((time + bound + bound).milliseconds, ordering: .releasing)
  }

  // MARK: Facts

  /// The position for the directory; nil before the first connection.
  var saved: SavedPosition? {
    state.withLock { $0.hasConnected ? SavedPosition(nonce: $0.nonce, read: $0.read) : nil }
  }

  var read: ReadPosition { state.withLock { $0.read } }

  var facts: State { state.withLock { $0 } }

  /// Gives a value once the node is connected.
  func whenConnected(_ waiter: OneShot<Void>) {
    let isConnected = state.withLock { state in
      if !state.isConnected { state.waiting[ObjectIdentifier(waiter)] = waiter }
      return state.isConnected
    }
    if isConnected { waiter.give(()) }
  }

  /// Forgets a waiter that no longer waits.
  func forget(_ waiter: OneShot<Void>) {
    state.withLock { _ = $0.waiting.removeValue(forKey: ObjectIdentifier(waiter)) }
  }
}
