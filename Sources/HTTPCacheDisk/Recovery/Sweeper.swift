import HTTPCacheFiles
import HTTPCacheStore

/// Deletes what dead processes left: body files without rows, and the ends of partial bodies that no row counts.
struct Sweeper: Sendable {
  /// For sweeps and checks, which take long. One thread, because a sweep holds the locks of dead owners, which look
  /// alive to another sweep.
  let queue = WorkQueue(threads: 1)
  let thread: IndexThread

  /// Deletes body files without rows, if an earlier process may have left some. Files that a living process is writing
  /// stay. On the thread of `queue`.
  func sweep(_ opened: OpenDirectory) {
    guard let dead = try? OwnerLock.owners(in: opened.directory).dead else { return }
    guard opened.needsSweep || !dead.isEmpty else { return }
    // A dead process may have ended between a commit and raising the counters.
    if !dead.isEmpty { opened.changes.raiseAll() }
    try? removeOrphans(of: opened, deadOwners: dead)
  }

  /// Deletes the files that dead processes left, before it returns.
  ///
  /// - Throws: `CacheError` if the index cannot be read.
  func removeLeftovers() async throws(CacheError) {
    let opened = thread.currentDirectory
    try await queue.run { [self] () throws(CacheError) in try removeOrphans(of: opened) }
  }

  /// Deletes the files that dead processes left, on the calling thread. Call this while this store does not sweep.
  func removeOrphans(of opened: OpenDirectory) throws(CacheError) {
    try removeOrphans(of: opened, deadOwners: try OwnerLock.owners(in: opened.directory).dead)
  }

  private func removeOrphans(of opened: OpenDirectory, deadOwners: [DeadOwner]) throws(CacheError) {
    let isComplete = try orphans(of: opened, deadOwners: deadOwners) { opened.directory.removeBody($0) }
    finishSweep(of: opened, deadOwners: deadOwners, isComplete: isComplete)
  }

  /// Deletes the locks of dead owners, whose body files without rows were deleted.
  ///
  /// - Parameter isComplete: false if there are files without rows that a living process may be writing. A dead owner
  ///   may have removed their rows, so the locks stay, and the next process that opens the directory looks again.
  func finishSweep(of opened: OpenDirectory, deadOwners: [DeadOwner], isComplete: Bool) {
    guard !deadOwners.isEmpty else { return }
    for row in (try? opened.index.rows(where: "partial = 1 LIMIT 4096")) ?? [] {
      try? cutTail(of: row.id, in: opened)
    }
    if isComplete { for owner in deadOwners { owner.forget() } }
  }

  /// Truncates the file of a partial body after its last stored piece. A dead writer may have written more
  /// bytes, which no row counts.
  private func cutTail(of id: Int64, in opened: OpenDirectory) throws(CacheError) {
    func name() throws(CacheError) -> BodyName? {
      try opened.index.rows(where: "id = ? AND partial = 1", [.integer(id)]).first?.file
    }
    // A writer that adds to the file holds the lock exclusively. While this lock is held, the row does not change.
    guard let file = try name(), let open = try opened.directory.openShared(file) else { return }
    defer { withExtendedLifetime(open) {} }
    let pieces = try opened.index.pieces(of: id)
    guard try name() == file, !pieces.list.isEmpty, try open.size() > pieces.end else { return }
    open.truncate(to: pieces.end)
  }

  /// Finds body files that have no row and that no living process is writing.
  ///
  /// - Parameter deadOwners: the dead owners whose locks this process holds, so that they look alive.
  /// - Returns: false if there are files without rows that another living process may be writing.
  /// - Throws: `CacheError` if the index, the body files or the locks cannot be read.
  func orphans(
    of opened: OpenDirectory, deadOwners: [DeadOwner], found: (BodyName) -> Void
  ) throws(CacheError) -> Bool {
    var isComplete = true
    try opened.directory.bodies { (names) throws(CacheError) in
      // List the files before the owners: a living process that wrote a listed file holds its owner lock by then.
      let living = try OwnerLock.owners(in: opened.directory).living.subtracting(deadOwners.map(\.owner))
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
