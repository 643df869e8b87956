import HTTPCacheFiles
import HTTPCacheStore
import Synchronization

/// The limits of a store, and the changed settings that are not in the index yet.
final class DiskLimits: Sendable {
  private struct State {
    /// The capacity of the directory, as this store knows it.
    var capacity: Int64
    var changes: DirectorySettings.Changes
  }

  private let largestEntry: LargestEntry
  private let state: Mutex<State>

  /// - Parameters:
  ///   - settings: the settings of the directory.
  ///   - changes: the settings to have instead.
  init(largestEntry: LargestEntry, settings: DirectorySettings, changes: DirectorySettings.Changes) {
    self.largestEntry = largestEntry
    var missing = changes
    if changes.capacity == settings.capacity { missing.capacity = nil }
    if changes.minimumFreeSpace == settings.minimumFreeSpace { missing.minimumFreeSpace = nil }
    state = Mutex(State(capacity: changes.capacity ?? settings.capacity, changes: missing))
  }

  // MARK: Settings

  /// The capacity of the directory, as this store knows it.
  var capacity: Int64 { state.withLock { $0.capacity } }

  /// The settings that this store has still to write.
  var changes: DirectorySettings.Changes { state.withLock { $0.changes } }

  /// Changes settings; `save` writes them.
  func change(_ new: DirectorySettings.Changes) {
    state.withLock { state in
      state.capacity = new.capacity ?? state.capacity
      state.changes.capacity = new.capacity ?? state.changes.capacity
      state.changes.minimumFreeSpace = new.minimumFreeSpace ?? state.changes.minimumFreeSpace
    }
  }

  /// Writes the changed settings of this store, until that has succeeded once; on the index thread.
  func save(in opened: OpenDirectory) throws(CacheError) {
    let saved = changes
    guard !saved.isEmpty else { return }
    try opened.index.write { (connection) throws(CacheError) in
      try DirectorySettings(connection).changed(by: saved).save(connection)
    }
    // Keep newer changes.
    state.withLock { state in
      if state.changes.capacity == saved.capacity { state.changes.capacity = nil }
      if state.changes.minimumFreeSpace == saved.minimumFreeSpace { state.changes.minimumFreeSpace = nil }
    }
  }

  /// The capacity of the directory: the capacity that this store has still to write, otherwise the capacity
  /// in the index, which other processes may have changed.
  func capacity(by index: IndexState) -> Int64 {
    state.withLock { state in
      if state.changes.capacity == nil { state.capacity = index.capacity }
      return state.capacity
    }
  }

  /// The longest body to store in bytes, as far as this store knows the capacity.
  var longestBody: Int64 { largestEntry.bytes(of: capacity) }

  /// The longest body to store in bytes, for the current capacity of the directory.
  func longestBody(in opened: OpenDirectory) -> Int64 {
    if let state = try? opened.index.read(IndexState.init) { _ = capacity(by: state) }
    return longestBody
  }

  // MARK: Usage

  /// The usage of a directory by kind.
  func usage(of opened: OpenDirectory, on connection: SQLiteConnection) throws(CacheError) -> DiskUsage {
    let (state, pages) = (try IndexState(connection), try PageCount(connection))
    return DiskUsage(
      index: pages.bytes, log: opened.logBytes, bodies: state.bodies, writing: opened.reservations.bytes,
      other: opened.fixedBytes, capacity: capacity(by: state), entries: Int(clamping: state.entries))
  }

  /// The reason why a response does not fit although all evictable entries were evicted.
  func noRoomReason(in opened: OpenDirectory) -> String {
    if let note = noRoomNote(in: opened) { return note }
    if let shortage = opened.freeSpace.shortage(in: opened.directory.root), shortage > 0 {
      return "\(opened.freeSpace.minimum) bytes are to be free on the file system, \(shortage) are missing"
    }
    return "no room now: the rest is pinned, being written, or evicted in the background"
  }

  /// A message if a capacity is less than an index with one entry takes; otherwise nil.
  ///
  /// - Parameter capacity: nil for that of the directory.
  func noRoomNote(in opened: OpenDirectory, capacity: Int64? = nil) -> String? {
    let capacity = capacity ?? self.capacity
    guard capacity < 16 << 20 else { return nil }
    let roots = try? opened.index.number("SELECT count(*) FROM sqlite_schema WHERE rootpage > 0")
    // Two more pages: the head of the database and the map of its pages. The log has a copy of each page that the first
    // entry changes, and that entry has three pages of its own.
    let pages = (roots ?? 0) + 2
    let least = opened.fixedBytes + (2 * pages + 3) * PageCount.pageSize
    guard least >= capacity else { return nil }
    return "nothing can be stored: a cache with one entry takes \(least) bytes, the capacity is \(capacity)"
  }
}

/// The usage of a directory by kind, in bytes.
public struct DiskUsage: Sendable, Hashable {
  /// The index: records, inline bodies, and the indexes of SQLite.
  public let index: Int64
  /// The log of the index.
  public let log: Int64
  /// Body files, whole and partial.
  public let bodies: Int64
  /// Reservations: bodies that this store is writing.
  public let writing: Int64
  /// Counters, folders, and damaged indexes that were set aside.
  public let other: Int64
  /// The capacity of the directory.
  public let capacity: Int64
  let entries: Int

  /// The sum.
  public var total: Int64 { index + log + bodies + writing + other }
}
