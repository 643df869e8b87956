import HTTPCacheStore

/// Follows the log of a tier: meets it (*handshake*), adds this node's changes that wait, and applies the changes of
/// other nodes. One for each cache.
struct ChangeFollower {
  let fleet: Fleet
  let shelf: Shelf
  /// Nil without a bound of staleness.
  private let staleness: StalenessWatch?

  /// How long to wait for a change. Each answer is a sign of life, so this is also the heartbeat.
  private static let heartbeat = Duration.seconds(1)
  /// More changes at once than these are not applied one by one.
  private static let backlogLimit = 4_096
  /// The longest absence after which the log alone tells what was missed: other nodes remember changes for longer.
  private static let longestAbsence = Duration.seconds(60)
  private static let pauses = (shortest: Duration.milliseconds(250), longest: Duration.seconds(2))

  private var clock: any CacheClock { fleet.clock }
  private var log: FleetLog { fleet.log }

  init(fleet: Fleet, shelf: Shelf) {
    self.fleet = fleet
    self.shelf = shelf
    staleness = fleet.options.stalenessBound.map { StalenessWatch($0, fleet: fleet, shelf: shelf) }
  }

  /// Follows the log until the task is cancelled.
  func run() async {
    var pause = Self.pauses.shortest
    staleness?.begin()
    while !Task.isCancelled {
      do throws(SharedTierError) {
        try await meet()
        pause = Self.pauses.shortest
        let wasFollowed = try await follow()
        if Task.isCancelled { break }
        _ = log.disconnected()
        staleness?.begin()
        // Meet the new log at once, unless the tier changes its log all the time.
        if wasFollowed { continue }
      } catch {
        if Task.isCancelled { break }
        if log.disconnected() { fleet.observers.tell(.fleet(.disconnected(error))) }
        staleness?.begin()
        await staleness?.meetingFailed()
      }
      do { try await clock.sleep(for: pause) } catch { break }
      pause = min(pause * 2, Self.pauses.longest)
    }
    await staleness?.end()
    _ = log.disconnected()
    await save()
  }

  // MARK: Handshake

  /// Reads the log as the server has it now, adds again what the server lost, and applies what this node missed.
  private func meet() async throws(SharedTierError) {
    let asked = clock.uptime
    let state = try await fleet.tier.state()
    let usage = shelf.store.usage
    let plan = log.reconciliation(
      with: state, saved: fleet.positionPath.flatMap { SavedPosition.read(from: $0) },
      hasEntries: usage.memoryEntries + usage.diskEntries > 0, longestAbsence: Self.longestAbsence,
      uptime: clock.uptime)
    for (change, position) in plan.additions {
      let added = try await fleet.tier.add(change, at: position)
      log.restored(change, at: added, uptime: clock.uptime)
    }
    if let gap = plan.gap {
      await shelf.invalidateAll(because: gap)
    } else if plan.beginsAtEnd {
      await shelf.overtakeRunningRequests()
    }
    // Only now: a handshake that fails before this line is made again from the old position, with the same gap.
    let last = state.log.last { $0.position == plan.position }
    log.begin(state, at: last.map { ReadPosition($0) } ?? ReadPosition(position: plan.position, entry: 0))
    await raiseOtherNames(in: state.log)
    await apply(plan.unread)
    log.connected(asked: asked)
    await staleness?.end()
    staleness?.entriesAreCurrent(asOf: asked)
    fleet.breaker.succeeded(.trial, uptime: clock.uptime)
    await save()
    fleet.observers.tell(.fleet(.connected(restored: plan.additions.count)))
    try await report()
  }

  // MARK: Following

  /// Applies changes until the log is lost, or the log must be met again.
  ///
  /// - Returns: whether there were signs of life of the log that was met.
  /// - Throws: `SharedTierError` if the connection is lost.
  private func follow() async throws(SharedTierError) -> Bool {
    var (lastReport, lastSave) = (clock.uptime, clock.uptime)
    var (isUnsaved, isFollowed) = (false, false)
    while !Task.isCancelled {
      try await tolerating(refusalsTo: "add a change") { () async throws(SharedTierError) in
        try await fleet.sendWaiting { change in
          await shelf.apply(change.kind, shelf.localSelections(change.selection))
        }
      }
      let asked = clock.uptime
      let read = try await fleet.tier.changes(
        after: log.read.position, waitingFor: Self.heartbeat, limit: Self.backlogLimit + 1)
      guard log.heard(nonce: read.nonce, uptime: clock.uptime) else { return isFollowed }
      isFollowed = true
      staleness?.entriesAreCurrent(asOf: asked)
      await apply(read.entries)
      // Entries may have been cut from the log before this node read them: it needs the positions of their scopes.
      if read.entries.count > Self.backlogLimit { return true }
      if !read.entries.isEmpty { isUnsaved = true }
      let uptime = clock.uptime
      if isUnsaved, uptime - lastSave >= Self.heartbeat {
        isUnsaved = !(await save())
        lastSave = uptime
      }
      guard !read.entries.isEmpty || uptime - lastReport >= Self.heartbeat else { continue }
      lastReport = uptime
      try await report()
    }
    return isFollowed
  }

  /// Tells how far this node has applied the log.
  ///
  /// - Throws: `SharedTierError` without an answer.
  private func report() async throws(SharedTierError) {
    try await tolerating(refusalsTo: "report the position") { () async throws(SharedTierError) in
      try await fleet.tier.report(
        SharedNode(name: fleet.options.nodeName, applied: log.read.position, seen: 0))
    }
  }

  /// Makes a call, and tells the observer of a refusal: a server that answers with one is connected nevertheless.
  ///
  /// - Parameter operation: what fails if the call does, for the observer.
  /// - Throws: `SharedTierError` without an answer.
  private func tolerating(
    refusalsTo operation: String, _ call: () async throws(SharedTierError) -> Void
  ) async throws(SharedTierError) {
    do throws(SharedTierError) {
      try await call()
    } catch {
      switch error.kind {
      case .unreachable, .timeout: throw error
      case .unavailable, .refused, .protocol:
        fleet.observers.tell(.fleet(.failed(operation: operation, error)))
      }
    }
  }

  /// Writes the position into the directory, unless the store has not made a change up to there: a node that restarts
  /// must read that change again.
  ///
  /// - Returns: whether nothing is left to be written.
  @discardableResult
  private func save() async -> Bool {
    await shelf.retryFailedChanges()
    guard shelf.failedChanges.isEmpty else { return false }
    fleet.savePosition()
    return true
  }

  /// Applies entries in the order of the log.
  private func apply(_ entries: [SharedLogEntry]) async {
    guard entries.count <= Self.backlogLimit else {
      for entry in entries { _ = log.note(entry, uptime: clock.uptime) }
      await raiseOtherNames(in: entries)
      await shelf.invalidateAll(because: .backlog)
      if let last = entries.last { log.passed(last) }
      return
    }
    for entry in entries {
      if log.note(entry, uptime: clock.uptime) {
        if let change = entry.change {
          let selections = await shelf.localSelections(change.selection)
          log.raise(change.kind, selections, at: entry.position)
          await shelf.apply(change.kind, selections)
          fleet.observers.tell(.fleet(.applied(change)))
        } else {
          await shelf.invalidateAll(because: .unreadableChange)
        }
      }
      log.passed(entry)
    }
  }

  /// Raises the scopes of the names that this node's rules give to the targets of a log: the node that added a change
  /// may know fewer names, and the positions of the tier are those of the names that it knew.
  private func raiseOtherNames(in entries: [SharedLogEntry]) async {
    for entry in entries {
      guard let change = entry.change, case .target(let target) = change.selection,
        let selections = try? await shelf.selections(ofTarget: target, asksForOtherNames: false),
        selections != [change.selection]
      else { continue }
      log.raise(change.kind, selections, at: entry.position)
    }
  }
}
