import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// A directory that one store has open. If the directory or its index is replaced, the store opens it again.
/// Work that began with the old open directory ends with it. Its transactions are in `Transaction.swift`, its log in
/// `IndexLog.swift`, and what overtakes an insertion in `Rivals.swift`.
final class OpenDirectory: Sendable {
  let directory: CacheDirectory
  let index: DiskIndex
  let generations: GenerationFile
  var changes: ChangeCounters { generations.changes }
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
  /// Partial bodies without rows that could not be opened to be deleted.
  let unopenedBodies = Mutex<[BodyName]>([])
  /// How often SQLite reported damage in this index that a check did not confirm.
  let suspicions: Int
  /// After so many unconfirmed reports, the index is set aside without a check.
  static let mostSuspicions = 3

  let keyGenerations: KeyGenerations
  private let wasTakenOver = Atomic<Bool>(false)
  let identity: FileIdentity
  private let replacements: UInt64
  /// The owner under which this store writes, and the bodies that it is writing.
  let ownership: Ownership
  /// The reservations of this store.
  let reservations: Reservations
  let freeSpace: FreeSpace
  // Bytes of the indexes that were set aside.
  private let setAside: Atomic<Int64>
  // When the requests were sent for responses that this store recently committed.
  private let requests = RecentRequests()

  /// - Parameters:
  ///   - database: the index, which was checked or made.
  ///   - wasSetAside: whether it is in the place of a damaged index.
  private init(
    directory: CacheDirectory, database: Database, wasSetAside: Bool, durability: Durability,
    generations: GenerationFile, identity: FileIdentity, notes: [String], freeSpace: FreeSpace,
    replacing older: OpenDirectory?
  ) {
    self.directory = directory
    index = DiskIndex(path: directory.databasePath, writer: database.connection, durability: durability)
    self.generations = generations
    secret = database.secret
    settings = database.settings
    hashes = RowHashes(secret: secret)
    self.identity = identity
    self.notes = notes
    needsSweep = wasSetAside || database.isNew
    self.freeSpace = freeSpace
    keyGenerations = KeyGenerations(generations, hashes: hashes, above: older?.keyGenerations)
    replacements = generations.changes.replacements
    // Keep the owner in the same directory: the names of existing body files contain it. Take a new owner if
    // the directory was emptied, so that other processes do not find the lock of the old owner.
    let same = older.flatMap { $0.directory.identity == directory.identity ? $0 : nil }
    ownership = same.flatMap { $0.ownership.isShown ? $0.ownership : nil } ?? Ownership(directory)
    reservations = same?.reservations ?? Reservations()
    reservations.setLimit(0)
    setAside = Atomic(directory.setAsideBytes)
    suspicions = older.map { $0.identity == identity ? $0.suspicions + 1 : 0 } ?? 0
  }

  /// Whether the index at the path is still the open index; compares one number in memory.
  var seemsCurrent: Bool {
    guard !wasTakenOver.load(ordering: .relaxed) else { return false }
    return generations.isShared ? changes.replacements == replacements : isCurrent
  }

  /// Whether index and counters at their paths are still the open ones; asks the file system. They are not in a
  /// directory that was emptied.
  var isCurrent: Bool {
    guard !wasTakenOver.load(ordering: .relaxed), FileIdentity(path: directory.databasePath) == identity
    else { return false }
    return changes.replacements == replacements
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
    let row = try? index.rows(where: "pinned = 0 ORDER BY priority LIMIT 1").first
    guard let found = row?.priority, found.isFinite, found > 0 else { return 0 }
    return found
  }

  /// Notes a row that was stored or freshened.
  ///
  /// - Parameters:
  ///   - sequence: the number of the change.
  ///   - record: the record with the number of its row.
  func didCommit(_ sequence: Int64, _ record: CacheRecord) {
    changes.didCommit(sequence)
    requests.note(record)
  }

  /// When the request was sent for the response that last wrote a row; nil if this store does not know.
  func moment(of record: CacheRecord) -> UInt64? { requests.moment(of: record) }

  /// Notes that matching entries are invalidated or removed. A transaction notes this before its commit. A
  /// later transaction that stores a response then finds the invalidation when it compares the ticket. If the
  /// process ends in between, the response is validated once more than needed.
  func noteInvalidation(_ selection: CacheSelection) { changes.note(selection) }

  /// Raises the counters of matching entries, so that copies in memory are out of date in all processes. A transaction
  /// does so with `Transaction.bumpGenerations`.
  func bumpGenerations(_ selection: CacheSelection) {
    if let key = selection.key { raise([hashes.hash(of: key)], .updated) } else { changes.raise(selection) }
  }

  /// Raises the counters of keys after a commit that changed their rows.
  func raise(_ hashes: [UInt64], _ change: KeyFilter.Change) {
    guard hashes.count <= ChangeCounters.mostKeys else { return changes.raiseAll() }
    for hash in hashes {
      if let filter = keyGenerations.filter { filter.raise(hash, change) } else { changes.raise(hash) }
    }
  }
}

extension OpenDirectory {
  /// Opens a directory. Makes missing files, and sets a damaged index aside.
  ///
  /// - Parameters:
  ///   - settings: the settings for a new directory.
  ///   - freeSpace: the free space of the directory's file system.
  ///   - older: the open directory that the result replaces.
  ///   - isDamaged: whether the index of `older` was found damaged while in use. It is then set aside, unless
  ///     another process has done so already.
  static func open(
    path: String, durability: Durability, settings: DirectorySettings, freeSpace: FreeSpace,
    replacing older: OpenDirectory? = nil, isDamaged: Bool = false
  ) throws(CacheError) -> OpenDirectory {
    let directory = try CacheDirectory(path: path, durably: durability == .durable)
    var notes: [String] = []
    // One process at a time makes or replaces an index. The lock ends with the file.
    let lock = try takeLock(of: directory)
    defer { withExtendedLifetime(lock) {} }
    let generations: GenerationFile
    do throws(CacheError) {
      generations = try GenerationFile.map(in: directory.root)
    } catch {
      generations = older.flatMap { $0.generations.isShared ? nil : $0.generations } ?? GenerationFile()
      notes.append("no shared counters, so what other processes change goes unnoticed in memory: \(error)")
    }
    // A damaged counter must not make the numbers of a new index impossible.
    let lastCommit = min(Int64(clamping: generations.changes.ticket().seen), IndexState.mostSequence / 2)
    var wasSetAside = false
    let wasThere = directory.databaseIdentity() != nil
    let database: Database
    do throws(CacheError) {
      if isDamaged, let older, directory.databaseIdentity() == older.identity {
        throw CacheError(.damaged, "found while in use")
      }
      database = try Database(
        in: directory, durability: durability, settings: settings, lastCommit: lastCommit)
    } catch {
      guard error.code == .damaged else { throw error }
      // The connection closes in this statement: if it closed later, SQLite could delete the log of the new index.
      let kept =
        (try? DirectorySettings(SQLiteConnection(path: directory.databasePath, creating: false))) ?? settings
      try directory.setIndexAside()
      generations.changes.raiseReplacements()
      notes.append("the index was set aside as \(CacheDirectory.damagedName): \(error.message)")
      wasSetAside = true
      database = try Database(
        in: directory, durability: durability, settings: kept, lastCommit: lastCommit)
    }
    if !wasSetAside, wasThere, database.isNew, try hasBodies(directory) {
      notes.append("Cache.db was empty: a new index was begun, and the bodies of the old one are deleted")
    }
    guard let identity = directory.databaseIdentity() else {
      throw CacheError(.unavailable, "Cache.db vanished")
    }
    let opened = OpenDirectory(
      directory: directory, database: database, wasSetAside: wasSetAside, durability: durability,
      generations: generations, identity: identity, notes: notes, freeSpace: freeSpace, replacing: older)
    generations.changes.didCommit(database.sequence)
    return opened
  }

  private static func hasBodies(_ directory: CacheDirectory) throws(CacheError) -> Bool {
    var hasBodies = false
    try directory.bodies { (names) throws(CacheError) in hasBodies = hasBodies || !names.isEmpty }
    return hasBodies
  }

  private static func takeLock(of directory: CacheDirectory) throws(CacheError) -> CacheFile {
    let file = try CacheFile(".", in: directory.root, flags: CacheFile.folder)
    guard file.lock(seconds: 2) else {
      throw CacheError(.busy, "another process is opening \(directory.path)")
    }
    return file
  }
}
