import HTTPCacheStore

/// The steps of a node that meets the log again: where it goes on, what it adds again, and whether it must take all of
/// its own entries for invalidated.
///
/// A server that lost the latest changes (a failover, an old copy, an empty restart) has a log that does not continue the
/// one that the node has read. The node then goes back to the last entry that both have, and adds what the server lost
/// above all positions that it has seen: a response with a ticket of the lost log is then overtaken by them.
struct FleetReconciliation: Sendable {
  /// The position to go on from.
  let position: SharedPosition
  /// The entries of the log after the position, to be applied.
  let unread: [SharedLogEntry]
  /// The changes to add again, each at its position.
  let additions: [(change: SharedChange, position: SharedPosition?)]
  /// Why all entries of this node count as invalidated; nil if they do not.
  let gap: FleetGap?
  /// Whether the node has no entries, and takes the log as read: requests that it has sent may have missed changes.
  let beginsAtEnd: Bool

  /// For a node that has read the log before.
  ///
  /// - Parameters:
  ///   - state: the log as the server has it.
  ///   - position: the last entry that the node has read.
  ///   - remembered: the changes that the node has seen.
  ///   - wasAbsent: whether the node was absent for longer than nodes remember changes of others.
  init(
    with state: SharedState, after position: ReadPosition, remembered: RememberedChanges, wasAbsent: Bool
  ) {
    let common = state.log.last { entry in
      if entry.position == position.position { return position.isEntry(entry) }
      guard entry.position < position.position, let change = entry.change else { return false }
      return remembered[change.uid]?.position == entry.position || remembered.forgotten.isEntry(entry)
    }
    let gap: FleetGap? = wasAbsent ? .absence : common == nil && state.isCut ? .logCut : nil
    let start = gap == nil ? common?.position ?? .start : state.log.last?.position ?? .start
    self.position = start
    self.gap = gap
    beginsAtEnd = false
    unread = state.log.filter { $0.position > start }
    additions = Self.additions(
      to: state, remembered, above: common?.position ?? .start, read: position.position)
  }

  /// For a node that knows the log only by the position that its directory keeps.
  ///
  /// - Parameters:
  ///   - state: the log as the server has it.
  ///   - saved: the kept position; nil if there is none.
  ///   - hasEntries: whether the node has entries.
  init(with state: SharedState, after saved: SavedPosition?, hasEntries: Bool) {
    additions = saved.map { Self.additions(to: state, of: $0) } ?? []
    beginsAtEnd = !hasEntries
    let end = state.log.last?.position ?? .start
    guard hasEntries else {
      (position, unread, gap) = (end, [], nil)
      return
    }
    guard let saved else {
      (position, unread, gap) = (end, [], .unknownPosition)
      return
    }
    guard saved.nonce == state.nonce else {
      (position, unread, gap) = (end, [], .logLost)
      return
    }
    let read = saved.read
    if state.log.contains(where: read.isEntry) || read.position == .start && !state.isCut {
      (position, gap) = (read.position, nil)
      unread = state.log.filter { $0.position > read.position }
      return
    }
    guard !state.isCut else {
      (position, unread, gap) = (end, [], .logCut)
      return
    }
    // The server lost the entry. Other nodes may have added it again, above or below the kept position.
    (position, unread, gap) = (.start, state.log, nil)
  }

  /// - Parameters:
  ///   - state: the log as the server has it.
  ///   - remembered: the changes that the node has seen.
  ///   - common: the position of the last entry that both have. Entries up to there were read, also those that are no
  ///     longer remembered. An invalidation of everything takes the place of lost changes above it that are no longer
  ///     remembered.
  ///   - read: the position that the node had reached.
  private static func additions(
    to state: SharedState, _ remembered: RememberedChanges, above common: SharedPosition,
    read: SharedPosition
  ) -> [(change: SharedChange, position: SharedPosition?)] {
    let present = Set(state.log.compactMap { $0.change?.uid })
    var changes = remembered.all.filter { $0.position >= state.start && !present.contains($0.change.uid) }
      .map(\.change)
    let hasLostMore = hasLost(state, remembered.forgotten, above: max(common, state.start))
    guard !changes.isEmpty || hasLostMore else { return [] }
    let highest = max(remembered.highest ?? .start, remembered.forgotten.position, read)
    // Entries of the server that this node has not seen, at positions that the lost log had given already: responses
    // with tickets of the lost log must not pass for later than them.
    changes += state.log.filter { $0.position > common && $0.position <= highest }.compactMap(\.change)
      .filter { remembered[$0.uid] == nil }
    if hasLostMore { changes.append(Fleet.invalidationOfAll()) }
    return changes.enumerated().map { ($0.element, highest.above(by: $0.offset + 1)) }
  }

  /// An invalidation of everything if the server lost the entry that the node had read before it was restarted: this node
  /// cannot name it, nor those that were lost with it.
  private static func additions(
    to state: SharedState, of saved: SavedPosition
  ) -> [(change: SharedChange, position: SharedPosition?)] {
    guard saved.nonce == state.nonce, hasLost(state, saved.read, above: state.start) else { return [] }
    return [(Fleet.invalidationOfAll(), saved.read.position.above(by: 1))]
  }

  /// Whether the server lost changes that this node has seen and can no longer name, and still has responses that one of
  /// them may have overtaken.
  ///
  /// - Parameters:
  ///   - forgotten: the highest change that the node has seen and can no longer name. Another node that remembers it adds
  ///     it again, with those that were lost with it.
  ///   - known: a position up to which no change is lost: the server has the last of them, or has cut them.
  private static func hasLost(
    _ state: SharedState, _ forgotten: ReadPosition, above known: SharedPosition
  ) -> Bool {
    guard forgotten.position > known, !state.log.contains(where: forgotten.isChange(of:)) else {
      return false
    }
    // A server that lost the table, too, has overtaken all of its responses.
    return state.scopes[0] ?? .start < forgotten.position
  }
}
