import HTTPCacheFiles
import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

/// Removing and invalidating the entries of a selection.
///
/// Up to 256 rows are changed in one transaction. For more rows, one transaction writes an epoch, which reads
/// apply to the rows they find, so that the change has its effect at once. Then the rows are changed 256 at a
/// time, so that other processes can write in between, and the epoch is deleted. If the process ends before
/// that, the next process that opens the directory, or that reads an epoch, continues.
extension DiskStore {
  /// The most rows that one transaction removes or invalidates.
  static let rowsAtOnce = 256

  /// Removes the matching entries. When this returns, their rows and files are deleted.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError`.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    if case .all = selection { return try await removeAll() }
    return try await change(selection, removes: true).rows.count
  }

  /// Invalidates the matching entries. If the disk is too full to write that, the entries are removed instead.
  ///
  /// - Returns: the number of responses invalidated; nil if an epoch was written, whose rows are changed in the
  ///   background.
  /// - Throws: `CacheError`.
  @discardableResult
  public func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    do throws(CacheError) {
      let change = try await change(selection, removes: false)
      return change.isSaved ? nil : change.rows.count
    } catch {
      guard error.code == .noSpace else { throw error }
      return try await remove(selection)
    }
  }

  func change(_ selection: CacheSelection, removes: Bool) async throws(CacheError) -> SelectionChange {
    let change = try await onIndex { [self] (opened) throws(CacheError) in
      try begin(selection, removes: removes, in: opened)
    }
    if change.isDone { return change }
    if change.isSaved, !removes { workOffEpochs() } else { try await finish(change) }
    return change
  }

  /// Changes the rows, or writes an epoch if they are too many for one transaction; on the index thread.
  private func begin(
    _ selection: CacheSelection, removes: Bool, in opened: OpenDirectory
  ) throws(CacheError) -> SelectionChange {
    // Note the change even if the index cannot be written: a response that is being transferred is then stored
    // as invalidated.
    opened.noteInvalidation(selection)
    // A full disk has no space for the batch. That must not prevent the change.
    do throws(CacheError) { try writeBatch(opened) } catch {
      guard error.code == .noSpace else { throw error }
    }
    let work = { () throws(CacheError) in
      try opened.write { (connection) throws(CacheError) in
        let begun = try Self.begin(selection, removes: removes, opened.hashes, connection)
        // Raise the counters even if no entry matches: a process that removed the entries may have ended before
        // it raised them.
        opened.noteInvalidation(selection)
        opened.bumpGenerations(selection)
        return begun
      }
    }
    let clause = SelectionClause(selection, opened.hashes)
    let first = "\(clause.sql) LIMIT \(Self.rowsAtOnce)"
    var (change, removals) =
      removes ? try makingRoom(in: opened, first, clause.values, work) : try work()
    opened.bumpGenerations(selection)
    if removals.count > 0 { after(removals, in: opened) }
    if !change.isDone, removes || !change.isSaved {
      change.rows = try opened.index.withWriter { [epoch = change.epoch] (connection) throws(CacheError) in
        try epoch.rows(opened.hashes, connection)
      }
    }
    return change
  }

  private static func begin(
    _ selection: CacheSelection, removes: Bool, _ hashes: RowHashes, _ connection: SQLiteConnection
  ) throws(CacheError) -> (SelectionChange, Removals) {
    var state = try IndexState(connection)
    let epoch = Epoch(selection: selection, removes: removes, sequence: state.sequence + 1)
    var change = SelectionChange(epoch: epoch)
    var removals = Removals()
    let rows = try epoch.rows(limit: rowsAtOnce + 1, hashes, connection)
    if rows.count <= rowsAtOnce {
      (change.rows, change.isDone) = (rows, true)
      removals = try epoch.apply(to: rows, &state, connection)
    } else if try epoch.save(connection) {
      _ = state.nextSequence()
      change.isSaved = true
    }
    try state.save(connection)
    return (change, removals)
  }

  /// Changes the rows that are left, some in each transaction, and deletes the epoch.
  private func finish(_ change: SelectionChange) async throws(CacheError) {
    var rest = change.rows[...]
    repeat {
      let some = Array(rest.prefix(Self.rowsAtOnce))
      rest = rest.dropFirst(some.count)
      try await onIndex { [self, isLast = rest.isEmpty] (opened) throws(CacheError) in
        try changeSome(change, some, isLast: isLast, in: opened)
      }
    } while !rest.isEmpty
  }

  private func changeSome(
    _ change: SelectionChange, _ rows: [Int64], isLast: Bool, in opened: OpenDirectory
  ) throws(CacheError) {
    let epoch = change.epoch
    let removals = try opened.write { (connection) throws(CacheError) in
      var state = try IndexState(connection)
      let removals = try epoch.apply(to: rows, &state, connection)
      try state.save(connection)
      if isLast, change.isSaved { try epoch.remove(connection) }
      // Without an epoch in the index, this transaction is the one that makes the change visible.
      if !change.isSaved { opened.bumpGenerations(epoch.selection) }
      return removals
    }
    if !change.isSaved { opened.bumpGenerations(epoch.selection) }
    if removals.count > 0 { after(removals, in: opened) }
  }

  // MARK: Epochs

  /// Applies epochs to their rows in the background: epochs of this store, and of a process that ended before it
  /// applied them. Does nothing while this work is running.
  func workOffEpochs() {
    guard (try? firstEpoch()) ?? nil != nil,
      !isWorkingOff.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    Task { [weak self] in
      while let store = self, let epoch = (try? store.firstEpoch()) ?? nil {
        // After an error the epoch stays in the index, and reads still apply it to its rows.
        do throws(CacheError) { try await store.finish(try await store.remaining(of: epoch)) } catch { break }
      }
      self?.isWorkingOff.store(false, ordering: .releasing)
    }
  }

  /// Called when a read finds epochs. The process that writes an epoch applies it, but may end before it is
  /// done, and an attempt of this store may fail. So a read starts another attempt, at most once a second.
  func didReadEpochs() {
    let now = clock.now.seconds
    guard lastEpochAttempt.exchange(now, ordering: .relaxed) != now else { return }
    workOffEpochs()
  }

  private func firstEpoch() throws(CacheError) -> Epoch? {
    try currentDirectory.index.read { (connection) throws(CacheError) in try Epoch.load(connection).first }
  }

  private func remaining(of epoch: Epoch) async throws(CacheError) -> SelectionChange {
    try await sweepQueue.run { [self] () throws(CacheError) in
      let opened = currentDirectory
      let rows = try opened.index.read { (connection) throws(CacheError) in
        try epoch.rows(opened.hashes, connection)
      }
      return SelectionChange(epoch: epoch, isSaved: true, rows: rows)
    }
  }
}

extension DiskStore {
  /// Invalidates a row.
  static func mark(_ id: Int64, _ connection: SQLiteConnection) throws(CacheError) {
    try connection.run("UPDATE entry SET invalid = 1 WHERE id = ? AND invalid = 0", [.integer(id)])
  }

  /// Removes the rows that match a condition, and their body files.
  ///
  /// - Returns: the number of rows removed.
  @discardableResult
  func removeRows(
    in opened: OpenDirectory, _ condition: String, _ values: [SQLiteValue]
  ) throws(CacheError) -> Int {
    let removals = try opened.write { (connection) throws(CacheError) in
      let rows = try EntryRow.find(condition, values, connection)
      var removals = Removals()
      for row in rows { try removals.delete(row, connection) }
      if !rows.isEmpty {
        var state = try IndexState(connection)
        state.subtract(removals)
        try state.save(connection)
      }
      return removals
    }
    if removals.count > 0 { after(removals, in: opened) }
    return removals.count
  }
}
