import HTTPCacheFiles
import HTTPCacheStore
import Synchronization

extension DiskStore {
  /// Deletes body files without rows in the background, if an earlier process may have left some. Files that a
  /// living process is writing stay.
  func startSweep(of opened: OpenDirectory) {
    sweepQueue.submit { [weak self] in
      guard let self else { return }
      workOffEpochs()
      let (_, dead) = OwnerLock.owners(in: opened.directory)
      guard opened.needsSweep || !dead.isEmpty else { return }
      // A dead process may have ended between a commit and raising the counters.
      if !dead.isEmpty { opened.generations.bumpAll() }
      try? removeOrphans(of: opened, deadOwners: dead)
    }
  }

  /// Deletes the files that dead processes left, before it returns.
  ///
  /// - Throws: `CacheError` if the index cannot be read.
  func removeLeftovers() async throws(CacheError) {
    let opened = currentDirectory
    try await sweepQueue.run { [self] () throws(CacheError) in try removeOrphans(of: opened) }
  }

  /// Deletes the files that dead processes left, on the calling thread. Call this while this store does not sweep.
  func removeOrphans(of opened: OpenDirectory) throws(CacheError) {
    try removeOrphans(of: opened, deadOwners: OwnerLock.owners(in: opened.directory).dead)
  }

  private func removeOrphans(of opened: OpenDirectory, deadOwners: [DeadOwner]) throws(CacheError) {
    let isComplete = try orphans(of: opened, deadOwners: deadOwners) { opened.directory.removeBody($0) }
    finishSweep(of: opened, deadOwners, isComplete: isComplete)
  }

  /// Deletes the locks of dead owners, whose body files without rows were deleted.
  ///
  /// - Parameter isComplete: false if there are files without rows that a living process may be writing. A dead owner
  ///   may have removed their rows, so the locks stay, and the next process that opens the directory looks again.
  func finishSweep(of opened: OpenDirectory, _ deadOwners: [DeadOwner], isComplete: Bool) {
    guard !deadOwners.isEmpty else { return }
    cutTails(in: opened)
    if isComplete { for owner in deadOwners { owner.forget() } }
  }

  /// Truncates files of partial bodies after their last stored piece. A dead writer may have written more
  /// bytes, which no row counts.
  private func cutTails(in opened: OpenDirectory) {
    let rows = try? opened.index.read { (connection) throws(CacheError) in
      var ids: [Int64] = []
      try connection.query("SELECT id FROM entry WHERE partial = 1 LIMIT 4096") { row in
        ids.append(row.integer(0))
        return true
      }
      return ids
    }
    for id in rows ?? [] { try? cutTail(of: id, in: opened) }
  }

  private func cutTail(of id: Int64, in opened: OpenDirectory) throws(CacheError) {
    func name() throws(CacheError) -> BodyName? {
      try opened.index.read { (connection) throws(CacheError) in
        try EntryRow.find("id = ? AND partial = 1", [.integer(id)], connection).first?.file
      }
    }
    // A writer that adds to the file holds the lock exclusively. While this lock is held, the row does not change.
    guard let file = try name(), let open = opened.directory.openShared(file) else { return }
    defer { withExtendedLifetime(open) {} }
    let pieces = try opened.index.read { (connection) throws(CacheError) in
      try StoredPieces.load(connection, entry: id, wholeLength: nil)
    }
    guard try name() == file, !pieces.list.isEmpty, try open.size() > pieces.end else { return }
    open.truncate(to: pieces.end)
  }

  /// Finds body files that have no row and that no living process is writing.
  ///
  /// - Parameter deadOwners: the dead owners whose locks this process holds, so that they look alive.
  /// - Returns: false if there are files without rows that another living process may be writing.
  /// - Throws: `CacheError` if the index cannot be read.
  func orphans(
    of opened: OpenDirectory, deadOwners: [DeadOwner], _ found: (BodyName) -> Void
  ) throws(CacheError) -> Bool {
    var isComplete = true
    try opened.directory.bodies { (names) throws(CacheError) in
      // List the files before the owners: a living process that wrote a listed file holds its owner lock by then.
      let living = OwnerLock.owners(in: opened.directory).living.subtracting(deadOwners.map(\.owner))
      for name in names {
        let isOwn = name.owner == opened.ownership.owner
        if isOwn && opened.ownership.isInWork(name) { continue }
        if try opened.hasRow(of: name) { continue }
        if !isOwn && living.contains(name.owner) {
          // It may be about to get a row.
          isComplete = false
        } else {
          found(name)
        }
      }
    }
    return isComplete
  }
}
