import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A directory that one store has open. If the directory or its index is replaced, the store opens it again.
/// Work that began with the old open directory ends with it.
final class OpenDirectory: Sendable {
  let directory: CacheDirectory
  let index: DiskIndex
  let generations: GenerationFile
  let secret: [UInt8]
  /// The settings when the directory was opened.
  let settings: DirectorySettings
  /// The hashes for rows and counters.
  let hashes: RowHashes
  /// Messages about opening the directory.
  let notes: [String]
  /// Whether the directory may have body files without rows.
  let needsSweep: Bool
  /// Entries that were found damaged and are about to be removed. Reads treat them as misses from then on.
  let damaged = Mutex<Set<Int64>>([])
  /// How often SQLite reported damage in this index that a check did not confirm.
  let suspicions: Int
  /// After so many unconfirmed reports, the index is set aside without a check.
  static let mostSuspicions = 3

  // Above all generations of an older open directory.
  private let firstGeneration: UInt64
  private let wasTakenOver = Atomic<Bool>(false)
  let identity: FileIdentity
  private let replacements: UInt64
  /// The owner under which this store writes, and the bodies that it is writing.
  let ownership: Ownership
  /// The reservations of this store.
  let reservations: Reservations
  // Bytes of the indexes that were set aside.
  private let setAside: Atomic<Int64>
  // When the requests were sent for responses that this store recently committed.
  private let requests = RecentRequests()

  init(
    directory: CacheDirectory, index: DiskIndex, generations: GenerationFile, secret: [UInt8],
    settings: DirectorySettings, identity: FileIdentity, notes: [String], needsSweep: Bool,
    replacing older: OpenDirectory?
  ) {
    self.directory = directory
    self.index = index
    self.generations = generations
    self.secret = secret
    self.settings = settings
    hashes = RowHashes(secret: secret)
    self.identity = identity
    self.notes = notes
    self.needsSweep = needsSweep
    firstGeneration = older.map { $0.firstGeneration &+ 1 << 48 } ?? 0
    replacements = generations.replacements
    // Keep the owner in the same directory: the names of existing body files contain it. Take a new owner if
    // the directory was emptied, so that other processes do not find the lock of the old owner.
    let same = older.flatMap { $0.directory.identity == directory.identity ? $0 : nil }
    ownership = same.flatMap { $0.ownership.isShown ? $0.ownership : nil } ?? Ownership(directory)
    reservations = same?.reservations ?? Reservations()
    reservations.setLimit(0)
    setAside = Atomic(directory.setAsideBytes)
    suspicions = older.map { $0.identity == identity ? $0.suspicions + 1 : 0 } ?? 0
  }

  /// Inserts, removes or invalidates entries in one transaction, on the calling thread. Takes the owner lock before, if it can: if
  /// this process ends before it has deleted the files of removed rows and raised the counters, the next process that
  /// opens the directory finds the free lock.
  func write<Value: Sendable>(
    _ body: (SQLiteConnection) throws(CacheError) -> Value
  ) throws(CacheError) -> Value {
    _ = try? ownership.become()
    return try index.write(body)
  }

  /// Whether the index at the path is still the open index; compares one number in memory.
  var seemsCurrent: Bool {
    guard !wasTakenOver.load(ordering: .relaxed) else { return false }
    return generations.isShared ? generations.replacements == replacements : isCurrent
  }

  /// Whether index and counters at their paths are still the open ones; asks the file system. They are not in a
  /// directory that was emptied.
  var isCurrent: Bool {
    guard !wasTakenOver.load(ordering: .relaxed), FileIdentity(path: directory.databasePath) == identity
    else { return false }
    return generations.replacements == replacements
      && (!generations.isShared
        || generations.identity == FileIdentity(CacheDirectory.generationsName, in: directory.root))
  }

  /// Call this when a newer version has changed the format of the index. The index is then neither read nor written.
  func takenOver() { wasTakenOver.store(true, ordering: .relaxed) }

  /// Whether SQLite finds the whole index sound, and the file is an index of this cache. True if the index
  /// cannot be read now.
  func passesCheck() -> Bool {
    do throws(CacheError) {
      let connection = try SQLiteConnection(path: directory.databasePath, creating: false)
      // An empty file is a sound database too, but cannot become an index while other processes have it open.
      guard try connection.integrityErrors().isEmpty else { return false }
      return try connection.number("PRAGMA application_id") == Schema.applicationID
    } catch {
      return error.code != .damaged
    }
  }

  /// The size of the log now.
  var logBytes: Int64 { directory.size(of: CacheDirectory.databaseName + "-wal") }

  /// Bytes that belong to no single entry: the counters, the shared memory of the log, the folders, and the
  /// indexes that were set aside.
  var fixedBytes: Int64 {
    Int64(generations.isShared ? GenerationFile.byteCount : 0) + Self.logIndexBytes + Self.ownFolderBytes
      + setAside.load(ordering: .relaxed)
  }

  /// Deletes indexes that were set aside.
  ///
  /// - Returns: whether there were any.
  func removeSetAside() -> Bool {
    directory.removeSetAside()
    return setAside.exchange(0, ordering: .relaxed) > 0
  }

  // The directory, its folders, and the file that excludes it from backups.
  private static let ownFolderBytes: Int64 = 4 * PageCount.pageSize

  private static let logIndexBytes: Int64 = 32 << 10

  /// The lowest priority of all entries, with which the eviction policy starts.
  var lowestPriority: Double {
    let found = try? index.read { (connection) throws(CacheError) -> Double in
      var priority = 0.0
      try connection.query("SELECT min(priority) FROM entry WHERE pinned = 0") { row in
        priority = row.real(0)
        return false
      }
      return priority
    }
    guard let found, found.isFinite, found > 0 else { return 0 }
    return found
  }

  /// A number that rises with each commit that may change an entry of a key. If changes by other processes
  /// are not visible, the number rises with each call, so that no entry in memory is used.
  func generation(of key: CacheKey) -> UInt64 {
    if !generations.isShared { generations.bumpAll() }
    return firstGeneration &+ generations.generation(of: hashes.hash(of: key))
  }

  /// Notes a row that was stored or freshened.
  ///
  /// - Parameters:
  ///   - sequence: the number of the change.
  ///   - record: the record with the number of its row.
  func didCommit(_ sequence: Int64, _ record: CacheRecord) {
    generations.didCommit(sequence)
    requests.note(record)
  }

  /// When the request was sent for the response that last wrote a row; nil if this store does not know.
  func moment(of record: CacheRecord) -> UInt64? { requests.moment(of: record) }

  /// Notes that matching entries are invalidated or removed. A transaction notes this before its commit. A
  /// later transaction that stores a response then finds the invalidation when it compares the ticket. If the
  /// process ends in between, the response is validated once more than needed.
  func noteInvalidation(_ selection: CacheSelection) { generations.note(selection) }

  /// Raises the counters of matching entries, so that copies in memory are out of date in all processes. Call
  /// this within the transaction, because the process may end right after the commit, and again after it: a
  /// reader that read the old row in between then reads again.
  func bumpGenerations(_ selection: CacheSelection) {
    if let key = selection.key { generations.bump([hashes.hash(of: key)]) } else { generations.bumpAll() }
  }
}
