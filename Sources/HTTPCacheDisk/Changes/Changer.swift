import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// Removes and invalidates the entries of a selection.
///
/// Up to 256 rows are changed in one transaction. For more rows, one transaction writes an epoch, which reads
/// apply to the rows they find, so that the change has its effect at once. Then the rows are changed 256 at a
/// time, so that other processes can write in between, and the epoch is deleted. If the process ends before
/// that, the next process that opens the directory, or that reads an epoch, continues.
final class Changer: Sendable {
  /// The most rows that one transaction removes or invalidates.
  private static let rowsAtOnce = 256

  private let thread: IndexThread
  private let batch: ChangeBatch
  private let sweeper: Sweeper
  private let recentRecords: RecentRecords
  private let clock: any CacheClock
  private let isApplyingEpochs = Atomic<Bool>(false)
  private let lastEpochAttempt = Atomic<Int64>(.min)

  init(
    thread: IndexThread, batch: ChangeBatch, sweeper: Sweeper, recentRecords: RecentRecords,
    clock: any CacheClock
  ) {
    self.thread = thread
    self.batch = batch
    self.sweeper = sweeper
    self.recentRecords = recentRecords
    self.clock = clock
  }

  /// Removes the matching entries (`DiskStore.remove`).
  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    if case .all = selection { return try await removeAll() }
    return try await change(selection, .removes).count
  }

  /// Marks the matching entries (`DiskStore.mark`).
  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    do throws(CacheError) {
      let change = try await change(selection, .marks(mark))
      return change.isSaved ? nil : change.count
    } catch {
      guard error.code == .noSpace else { throw error }
      return try await remove(selection)
    }
  }

  private func change(
    _ selection: CacheSelection, _ effect: Epoch.Effect
  ) async throws(CacheError) -> SelectionChange {
    let change = try await thread.run { [self] (opened) throws(CacheError) in
      try begin(selection, effect, in: opened)
    }
    if change.isDone { return change }
    if change.isSaved, effect != .removes { applyPendingEpochs() } else { try await finish(change) }
    return change
  }

  /// Changes the rows, or writes an epoch if they are too many for one transaction; on the index thread.
  private func begin(
    _ selection: CacheSelection, _ effect: Epoch.Effect, in opened: OpenDirectory
  ) throws(CacheError) -> SelectionChange {
    // Note the change even if the index cannot be written: a response that is being transferred is then stored
    // as invalidated.
    opened.noteInvalidation(selection)
    // A full disk has no space for the batch. That must not prevent the change.
    do throws(CacheError) { try batch.write(in: opened) } catch {
      guard error.code == .noSpace else { throw error }
    }
    let work = { () throws(CacheError) in
      try opened.write { (transaction) throws(CacheError) in
        let change = try Self.begin(selection, effect, in: &transaction)
        // Raise the counters even if no entry matches: a process that removed the entries may have ended before
        // it raised them.
        opened.noteInvalidation(selection)
        transaction.bumpGenerations(selection)
        return change
      }
    }
    let clause = SelectionClause(selection, opened.hashes)
    let first = "\(clause.sql) LIMIT \(Self.rowsAtOnce)"
    var change =
      effect == .removes
      ? try opened.makingRoom(byDeletingFilesOf: first, clause.values, for: work) : try work()
    if !change.isDone, effect == .removes || !change.isSaved {
      let rows = try opened.index.withWriter { [epoch = change.epoch] (connection) throws(CacheError) in
        try epoch.rows(hashes: opened.hashes, on: connection)
      }
      change.found(rows)
    }
    return change
  }

  private static func begin(
    _ selection: CacheSelection, _ effect: Epoch.Effect, in transaction: inout Transaction
  ) throws(CacheError) -> SelectionChange {
    let epoch = Epoch(selection: selection, effect: effect, sequence: transaction.state.sequence + 1)
    var change = SelectionChange(epoch: epoch, removal: try epoch.removal(on: transaction.connection))
    let rows = try epoch.rows(
      limit: rowsAtOnce + 1, hashes: transaction.hashes, on: transaction.connection)
    if rows.count <= rowsAtOnce {
      change.found(rows)
      change.isDone = true
      try epoch.apply(to: rows, in: &transaction)
    } else if try epoch.save(transaction.connection) {
      _ = transaction.state.nextSequence()
      change.isSaved = true
    }
    return change
  }

  /// Changes the rows that are left, some in each transaction, and deletes the epoch.
  private func finish(_ change: SelectionChange) async throws(CacheError) {
    var rest = change.rows[...]
    repeat {
      let some = Array(rest.prefix(Self.rowsAtOnce))
      rest = rest.dropFirst(some.count)
      try await thread.run { [isLast = rest.isEmpty] (opened) throws(CacheError) in
        try opened.write { (transaction) throws(CacheError) in
          try change.epoch.apply(to: some, in: &transaction)
          if isLast, change.isSaved { try change.epoch.remove(transaction.connection) }
          // Without an epoch in the index, this transaction is the one that makes the change visible.
          if !change.isSaved { transaction.bumpGenerations(change.epoch.selection) }
        }
      }
    } while !rest.isEmpty
  }

  // MARK: Removing everything

  /// Removes everything: all rows in one transaction, then the body files.
  private func removeAll() async throws(CacheError) -> Int {
    try await thread.run { [self] (opened) throws(CacheError) in
      batch.forgetRefusals()
      opened.noteInvalidation(.all)
      let count = try opened.makingRoom(byDeletingFilesOf: "file IS NOT NULL") { () throws(CacheError) in
        try Self.removeAllRows(from: opened)
      }
      recentRecords.removeAll()
      // The responses are removed already. If the index cannot shrink now, it shrinks when it is opened next.
      try? opened.shortenIfEmpty()
      return count
    }
  }

  /// Removes all rows. Their pages are not overwritten: overwriting would put all of them into the log. The
  /// commit drops the pages from the index, and `shortenIfEmpty` from its file.
  private static func removeAllRows(from opened: OpenDirectory) throws(CacheError) -> Int {
    try opened.index.execute("PRAGMA secure_delete = FAST")
    defer { try? opened.index.execute("PRAGMA secure_delete = ON") }
    return try opened.write { (transaction) throws(CacheError) in
      let count = try transaction.deleteAll()
      _ = transaction.state.nextSequence()
      opened.noteInvalidation(.all)
      transaction.bumpGenerations(.all)
      return count
    }
  }

  /// Removes everything of a partition (`DiskStore.wipe`).
  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    // Holds even if the rows cannot be removed.
    let noted = thread.currentDirectory
    noted.changes.noteWipe(mode: mode, partition: partition)
    try await thread.run { (opened) throws(CacheError) in
      // Another process may have replaced the directory before.
      if opened !== noted { opened.changes.noteWipe(mode: mode, partition: partition) }
    }
    let removal = try await change(.partition(mode: mode, partition), .removes)
    recentRecords.removeAll()
    try await sweeper.removeLeftovers()
    try await thread.run { [self] (opened) throws(CacheError) in
      batch.forgetRefusals()
      try opened.index.write { (connection) throws(CacheError) in
        try connection.run("DELETE FROM refusal")
        try Epoch.remove(
          mode: mode, partition: partition, upTo: removal.epoch.sequence - 1, on: connection)
      }
      _ = opened.removeSetAside()
      try opened.emptyLog(clock)
    }
    return removal.count
  }

  // MARK: Epochs

  /// Applies epochs to their rows in the background: epochs of this store, and of a process that ended before it
  /// applied them. Does nothing while this work is running.
  func applyPendingEpochs() {
    guard (try? firstEpoch()) ?? nil != nil,
      !isApplyingEpochs.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    Task { [weak self] in
      while let changer = self, let epoch = (try? changer.firstEpoch()) ?? nil {
        // After an error the epoch stays in the index, and reads still apply it to its rows.
        do throws(CacheError) { try await changer.finish(try await changer.remaining(of: epoch)) } catch {
          break
        }
      }
      self?.isApplyingEpochs.store(false, ordering: .releasing)
    }
  }

  /// Called when a read finds epochs. The process that writes an epoch applies it, but may end before it is
  /// done, and an attempt of this store may fail. So a read starts another attempt, at most once a second.
  func didReadEpochs() {
    let now = clock.now.seconds
    guard lastEpochAttempt.exchange(now, ordering: .relaxed) != now else { return }
    applyPendingEpochs()
  }

  private func firstEpoch() throws(CacheError) -> Epoch? {
    try thread.currentDirectory.index.read(Epoch.load).first
  }

  private func remaining(of epoch: Epoch) async throws(CacheError) -> SelectionChange {
    try await sweeper.queue.run { [self] () throws(CacheError) in
      let opened = thread.currentDirectory
      let rows = try opened.index.read { (connection) throws(CacheError) in
        try epoch.rows(hashes: opened.hashes, on: connection)
      }
      return SelectionChange(epoch: epoch, isSaved: true, rows: rows)
    }
  }
}
