import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// A transaction that inserts, removes or invalidates entries (`OpenDirectory.write`), with what has to be done after
/// the commit.
struct Transaction: Sendable {
  let connection: SQLiteConnection
  let opened: OpenDirectory
  /// Read at the beginning, and written before the commit.
  var state: IndexState
  /// The rows that were deleted.
  private(set) var removals = Removals()
  /// The selections whose counters were raised.
  private(set) var selections: [CacheSelection] = []

  init(on connection: SQLiteConnection, in opened: OpenDirectory) throws(CacheError) {
    self.connection = connection
    self.opened = opened
    state = try IndexState(connection)
  }

  var hashes: RowHashes { opened.hashes }

  /// Deletes a row, and after the commit its file.
  ///
  /// - Parameter kept: a file that belongs to another row from now on, and is not deleted.
  mutating func delete(_ row: EntryRow, keeping kept: BodyName? = nil) throws(CacheError) {
    try row.delete(connection)
    removals.add(row, keeping: kept)
    state.subtract(row)
  }

  /// Deletes all rows, and after the commit their files.
  ///
  /// - Returns: the number of entries.
  mutating func deleteAll() throws(CacheError) -> Int {
    var all = Removals()
    try connection.eachRow(where: "file IS NOT NULL") { row in
      all.add(row)
      return true
    }
    removals = all
    for table in ["entry", "block", "membership", "epoch", "refusal"] {
      try connection.run("DELETE FROM \(table)")
    }
    defer { (state.entries, state.bodies) = (0, 0) }
    return Int(clamping: state.entries)
  }

  /// Invalidates a row, or ends its lifetime. An invalidated row stays invalidated.
  func mark(_ id: Int64, as mark: StoredResponse.Mark) throws(CacheError) {
    let state = mark == .expired ? EntryRow.expired : EntryRow.invalidated
    try connection.run(
      "UPDATE entry SET invalid = ? WHERE id = ? AND invalid NOT IN (\(EntryRow.invalidated), ?)",
      [.integer(state), .integer(id), .integer(state)])
  }

  /// Raises the counters of matching entries now, because the process may end right after the commit, and again after
  /// the commit: a reader that reads an old row in between then reads again.
  mutating func bumpGenerations(_ selection: CacheSelection) {
    selections.append(selection)
    opened.bumpGenerations(selection)
  }
}

/// The rows that a transaction deleted. After the commit, their files are deleted and counters are raised.
struct Removals: Sendable {
  /// Body files, with their bytes.
  private(set) var files: [(name: BodyName, cost: Int64)] = []
  /// Files of partial bodies, which a writer may be writing.
  private(set) var partialFiles: [BodyName] = []
  private(set) var hashes: [UInt64] = []
  private(set) var cost: Int64 = 0

  /// - Parameter kept: a file that belongs to another row from now on, and is not deleted.
  mutating func add(_ row: EntryRow, keeping kept: BodyName? = nil) {
    if let file = row.file, file != kept {
      if row.isPartial { partialFiles.append(file) } else { files.append((file, row.cost)) }
    }
    // With one key more, all counters are raised.
    if hashes.count <= ChangeCounters.mostKeys { hashes.append(row.hash) }
    cost = cost.saturatingAdd(row.cost)
  }
}

extension OpenDirectory {
  /// Inserts, removes or invalidates entries in one transaction, on the calling thread. After the commit, raises
  /// counters and deletes the files of removed rows.
  ///
  /// Takes the owner lock before, if it can: if this process ends before it has deleted the files and raised the
  /// counters, the next process that opens the directory finds the free lock.
  func write<Value: Sendable>(
    _ body: (inout Transaction) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    _ = try? ownership.become()
    let (value, transaction) = try index.write { (connection) throws(CacheError) in
      var transaction = try Transaction(on: connection, in: self)
      let before = transaction.state
      let value = try body(&transaction)
      if transaction.state != before { try transaction.state.save(connection) }
      return (value, transaction)
    }
    for selection in transaction.selections { bumpGenerations(selection) }
    finishCommit(of: transaction.removals)
    return value
  }

  /// Removes the rows that match a condition, and their body files.
  ///
  /// - Returns: the number of rows removed.
  @discardableResult
  func removeRows(where condition: String, _ values: [SQLiteValue]) throws(CacheError) -> Int {
    try write { (transaction) throws(CacheError) in
      let rows = try transaction.connection.rows(where: condition, values)
      for row in rows { try transaction.delete(row) }
      return rows.count
    }
  }

  /// Deletes the files of removed rows, after the commit. A reader that has a file open can still read it.
  private func finishCommit(of removals: Removals) {
    for file in removals.files { deleteBody(file.name, bytes: file.cost) }
    removePartialBodies(removals.partialFiles)
    if removals.cost > 0 { freeSpace.askAgain() }
    raise(removals.hashes, .deleted)
  }

  /// Removes rows. If the disk is too full even for the log of this change, deletes the body files of the rows first: a
  /// row without its file is a miss.
  ///
  /// - Parameters:
  ///   - condition: finds the rows.
  ///   - work: removes the rows; called again once there is space.
  func makingRoom<Value>(
    byDeletingFilesOf condition: String, _ values: [SQLiteValue] = [],
    for work: () throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    do throws(CacheError) { return try work() } catch {
      guard error.code == .noSpace else { throw error }
      for row in try index.rows(where: condition, values) where !row.isPartial {
        if let file = row.file { directory.removeBody(file) }
      }
      // A checkpoint frees the space of the log.
      _ = try? index.truncateLog(waiting: true)
      return try work()
    }
  }
}
