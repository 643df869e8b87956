import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A folder as one store has it open. When the folder or its database is replaced, a store takes new
/// parts; what still uses the old ones keeps them until it is done.
final class OpenDirectory: Sendable {
  let directory: CacheDirectory
  let index: DiskIndex
  /// Nil where memory cannot be shared through a file.
  let generations: GenerationFile?
  let secret: [UInt8]
  /// The settings of the directory when it was opened.
  let settings: DirectorySettings
  /// What rows and counters go by.
  let hashes: RowHashes
  /// What people should know of how it was opened.
  let notes: [String]
  /// Whether bodies may lie about that no row knows of.
  let needsSweep: Bool
  let damaged = DamagedEntries()
  /// How often damage was found in this database that a check did not find.
  let suspicions: Int
  /// A database that is found damaged more often is set aside, whatever a check says.
  static let mostSuspicions = 3

  // New parts count from where no number of older ones can be.
  private let firstGeneration: UInt64
  private let unshared = Atomic<UInt64>(0)
  private let wasTakenOver = Atomic<Bool>(false)
  let identity: FileIdentity
  private let replacements: UInt64
  private let ownership: Ownership
  /// Bytes of this store that no row counts.
  let reservations: Reservations
  // Bytes of indexes that were set aside.
  private let setAside: Atomic<Int64>
  // Where nothing is shared, at least what this store does itself is known.
  private let ownInvalidations: InvalidationLog
  private let lastCommitted = Atomic<UInt64>(0)
  // When requests were sent whose responses this store has committed of late.
  private let requests = RecentRequests()

  init(
    directory: CacheDirectory, index: DiskIndex, generations: GenerationFile?, secret: [UInt8],
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
    ownInvalidations = older?.ownInvalidations ?? InvalidationLog()
    firstGeneration = older.map { $0.firstGeneration &+ 1 << 48 } ?? 0
    replacements = generations?.replacements ?? 0
    // In the same folder the owner's name stays, which is in the names of the files that the older parts wrote;
    // unless the folder was emptied, and other processes no longer find the owner's lock.
    let same = older.flatMap { $0.directory.identity == directory.identity ? $0 : nil }
    ownership = same.flatMap { $0.ownership.isShown(in: directory) ? $0.ownership : nil } ?? Ownership()
    reservations = same?.reservations ?? Reservations()
    reservations.setLimit(0)
    setAside = Atomic(directory.setAsideBytes)
    suspicions = older.map { $0.identity == identity ? $0.suspicions + 1 : 0 } ?? 0
  }

  /// Whether the database at the path is still the one that is open; compares one number in memory.
  var seemsCurrent: Bool {
    guard !wasTakenOver.load(ordering: .relaxed) else { return false }
    guard let generations else { return isCurrent }
    return generations.replacements == replacements
  }

  /// Whether the database at the path is still the one that is open; asks the file system.
  var isCurrent: Bool { isDatabaseCurrent && hasSharedCounters }

  /// The same of the database alone.
  var isDatabaseCurrent: Bool {
    !wasTakenOver.load(ordering: .relaxed)
      && (generations.map { $0.replacements == replacements } ?? true)
      && FileIdentity(path: directory.databasePath) == identity
  }

  /// Whether the counters that this store raises are those that others see, which they are not in a folder
  /// that was emptied, either; asks the file system once.
  var hasSharedCounters: Bool {
    guard let generations else { return isDatabaseCurrent }
    return !wasTakenOver.load(ordering: .relaxed) && generations.replacements == replacements
      && generations.identity == FileIdentity(CacheDirectory.generationsName, in: directory.root)
  }

  /// A newer version has given the database its format: it is neither read nor written any more.
  func takenOver() { wasTakenOver.store(true, ordering: .relaxed) }

  /// Whether SQLite finds the whole database sound, and it is ours; also if it cannot be read just now.
  func passesCheck() -> Bool {
    do throws(CacheError) {
      let connection = try SQLiteConnection(path: directory.databasePath, creating: false)
      var isSound = true
      try connection.query("PRAGMA integrity_check(1)") { row in
        isSound = row.text(0) == "ok"
        return false
      }
      // An empty file is a sound database, too, and can be made no index while others have it open.
      guard isSound else { return false }
      return try connection.number("PRAGMA application_id") == Schema.applicationID
    } catch {
      return error.code != .damaged
    }
  }

  /// Bytes of the log now.
  var logBytes: Int64 { directory.size(of: CacheDirectory.databaseName + "-wal") }

  /// Bytes that go with no single entry: the counters, the index of the log, the folders, what was set
  /// aside.
  var fixedBytes: Int64 {
    Int64(generations == nil ? 0 : GenerationFile.byteCount) + Self.logIndexBytes + Self.ownFolderBytes
      + directory.folderBytes + setAside.load(ordering: .relaxed)
  }

  /// Deletes indexes that were set aside.
  ///
  /// - Returns: whether there were any.
  func removeSetAside() -> Bool {
    directory.removeSetAside()
    return setAside.exchange(0, ordering: .relaxed) > 0
  }

  // The folder, those in it, and what tells backups to pass over it.
  private static let ownFolderBytes: Int64 = 4 * PageCount.pageSize

  private static let logIndexBytes: Int64 = 32 << 10

  /// The lowest priority of an entry, where the order of eviction goes on.
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

  /// A number that rises with each commit that may concern a key. Where nothing tells of other processes it
  /// rises with each call, so that nothing in memory is ever believed.
  func generation(of key: CacheKey) -> UInt64 {
    guard let generations else {
      return firstGeneration &+ unshared.add(1, ordering: .relaxed).newValue
    }
    return firstGeneration &+ generations.generation(of: hashes.hash(of: key))
  }

  /// The ticket of a request that is about to be sent.
  func ticket() -> InvalidationTicket {
    generations?.ticket() ?? ownInvalidations.ticket(seen: lastCommitted.load(ordering: .acquiring))
  }

  /// A row was stored or freshened.
  ///
  /// - Parameters:
  ///   - sequence: the number of the change.
  ///   - record: with the number of the row.
  func didCommit(_ sequence: Int64, _ record: CacheRecord) {
    didCommit(sequence)
    requests.note(record)
  }

  /// A change was committed, maybe by a process before this one.
  func didCommit(_ sequence: Int64) {
    generations?.didCommit(sequence)
    lastCommitted.max(UInt64(clamping: sequence), ordering: .acquiringAndReleasing)
  }

  /// When the request was sent whose response made a row what it is; nil where this store does not know.
  func moment(of record: CacheRecord) -> UInt64? { requests.moment(of: record) }

  /// Whether something overtook a request, by whatever process as far as processes share memory.
  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    if ticket == .oldest { return true }
    if let generations { return generations.isOvertaken(key, groups: groups, since: ticket) }
    return ownInvalidations.isOvertaken(key, groups: groups, since: ticket)
  }

  /// Notes that what matches is invalidated or removed. A transaction that does so notes it before its commit:
  /// a transaction that stores a response afterwards compares its ticket, and if the process ends in between,
  /// the response is validated once more than needed.
  func noteInvalidation(_ selection: CacheSelection) {
    guard let generations else { return ownInvalidations.note(selection) }
    for scope in InvalidationScope.all(of: selection) { generations.note(scope) }
  }

  /// Says that what matches is out of date in memory, wherever it is. Within the transaction as well, since the
  /// process may end right after it; whoever reads in between has what it says once more after it.
  func bumpGenerations(_ selection: CacheSelection) {
    if let key = selection.key { generations?.bump([hashes.hash(of: key)]) } else { generations?.bumpAll() }
  }

  /// A new name for a body, which no sweep takes until `finished` is called.
  func startBody() throws(CacheError) -> BodyName { try ownership.startBody(in: directory) }

  /// The body has its row, or is gone.
  func finished(_ name: BodyName) { ownership.finished(name) }

  func isInWork(_ name: BodyName) -> Bool { ownership.isInWork(name) }

  /// The name under which this store writes; nil before it wrote a file.
  var currentOwner: UInt64? { ownership.owner }

  /// Takes the owner lock, by which other processes can tell when this store ends.
  func becomeOwner() throws(CacheError) { _ = try ownership.ownerID(in: directory) }
}
