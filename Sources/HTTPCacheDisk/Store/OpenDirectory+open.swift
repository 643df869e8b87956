import HTTPCacheFiles
import HTTPCacheStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension OpenDirectory {
  /// Opens a directory. Makes missing files, and sets a damaged index aside.
  ///
  /// - Parameters:
  ///   - settings: the settings for a new directory.
  ///   - older: the open directory that the result replaces.
  ///   - isDamaged: whether the index of `older` was found damaged while in use. It is then set aside, unless
  ///     another process has done so already.
  static func open(
    path: String, durability: Durability, settings: DirectorySettings,
    replacing older: OpenDirectory? = nil, isDamaged: Bool = false
  ) throws(CacheError) -> OpenDirectory {
    let directory = try CacheDirectory(path: path, durably: durability == .durable)
    var notes: [String] = []
    // One process at a time makes or replaces an index. Closing the descriptor releases the lock.
    let lock = try takeLock(of: directory)
    defer { withExtendedLifetime(lock) {} }
    let generations: GenerationFile
    do throws(CacheError) {
      generations = try GenerationFile.map(in: directory.root)
    } catch {
      generations = older.flatMap { $0.generations.isShared ? nil : $0.generations } ?? GenerationFile()
      notes.append("no shared counters, so what other processes change goes unnoticed in memory: \(error)")
    }
    var wasSetAside = false
    let wasThere = directory.databaseIdentity() != nil
    let database: Database
    do throws(CacheError) {
      if isDamaged, let older, directory.databaseIdentity() == older.identity {
        throw CacheError(.damaged, "found while in use")
      }
      database = try Database(in: directory, durability: durability, settings: settings)
    } catch {
      guard error.code == .damaged else { throw error }
      let kept = DirectorySettings(damaged: directory) ?? settings
      try directory.setIndexAside()
      generations.bumpReplacements()
      notes.append("the index was set aside as \(CacheDirectory.damagedName): \(error.message)")
      wasSetAside = true
      database = try Database(in: directory, durability: durability, settings: kept)
    }
    if !wasSetAside, wasThere, database.isNew, try hasBodies(directory) {
      notes.append("Cache.db was empty: a new index was begun, and the bodies of the old one are deleted")
    }
    guard let identity = directory.databaseIdentity() else {
      throw CacheError(.unavailable, "Cache.db vanished")
    }
    let opened = OpenDirectory(
      directory: directory,
      index: DiskIndex(
        path: directory.databasePath, writer: database.connection, durability: durability),
      generations: generations, secret: database.secret, settings: database.settings,
      identity: identity, notes: notes,
      needsSweep: wasSetAside || database.isNew, replacing: older)
    generations.didCommit(database.sequence)
    return opened
  }

  private static func hasBodies(_ directory: CacheDirectory) throws(CacheError) -> Bool {
    var hasBodies = false
    try directory.bodies { (names) throws(CacheError) in hasBodies = hasBodies || !names.isEmpty }
    return hasBodies
  }

  private static func takeLock(of directory: CacheDirectory) throws(CacheError) -> OpenFile {
    let file = try OpenFile(".", in: directory.root, flags: OpenFile.folder)
    guard file.lock(seconds: 2) else {
      throw CacheError(.busy, "another process is opening \(directory.path)")
    }
    return file
  }
}

/// A connection to an index that was checked or made.
struct Database {
  let connection: SQLiteConnection
  let secret: [UInt8]
  let settings: DirectorySettings
  let isNew: Bool
  /// The number of the last change.
  let sequence: Int64

  /// - Parameter settings: the settings for a new index.
  init(
    in directory: CacheDirectory, durability: Durability, settings: DirectorySettings
  ) throws(CacheError) {
    let isEmpty = try Self.prepareFile(in: directory)
    do throws(CacheError) {
      connection = try SQLiteConnection(path: directory.databasePath, creating: true)
    } catch {
      throw error.code == .io ? CacheError(.unavailable, "cannot write Cache.db", cause: error) : error
    }
    // Read the header before SQLite reads or writes the file, so that an index of a newer format stays untouched.
    let header = try connection.header()
    if !isEmpty { try Self.check(header: header) }
    let application = try connection.number("PRAGMA application_id") ?? 0
    let format = try connection.number("PRAGMA user_version") ?? 0
    if application == Schema.applicationID, format > Schema.indexFormat { throw Self.newer(format) }
    let names = Schema.tableNames.map { "'\($0)'" }.joined(separator: ", ")
    let ours =
      try connection.number(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (\(names))") ?? 0
    let all = try connection.number("SELECT count(*) FROM sqlite_schema") ?? 0
    // This cache makes no triggers and views; they would change what its statements do.
    let foreign =
      try connection.number("SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')") ?? 0
    try connection.execute(Schema.settings(durability: durability))
    if all == 0 {
      try Self.create(connection, settings)
      isNew = true
    } else if ours < Schema.tableNames.count, application != Schema.applicationID {
      throw CacheError(.unavailable, "Cache.db is a database of something else")
    } else if ours < Schema.tableNames.count || foreign > 0 || application != Schema.applicationID
      || format < 1
    {
      throw CacheError(.damaged, "Cache.db is not as it was made")
    } else {
      isNew = false
    }
    sequence = try IndexState(connection).sequence
    secret = try Self.secret(connection)
    self.settings = try DirectorySettings(connection)
  }

  private static func secret(_ connection: SQLiteConnection) throws(CacheError) -> [UInt8] {
    var secret: [UInt8] = []
    try connection.query("SELECT value FROM meta WHERE name = 'secret'") { row in
      secret = Array(row.blob(0))
      return false
    }
    guard secret.count == 32 else { throw CacheError(.damaged, "Cache.db has no secret") }
    return secret
  }

  static func newer(_ format: Int64) -> CacheError {
    CacheError(.newerFormat, "Cache.db has format \(format), this version knows \(Schema.indexFormat)")
  }

  /// Makes an empty file if there is none, so that only the user can read it.
  ///
  /// - Returns: whether the file is empty.
  private static func prepareFile(in directory: CacheDirectory) throws(CacheError) -> Bool {
    let name = CacheDirectory.databaseName
    guard let status = directory.root.status(of: name) else {
      // SQLite would play a log without its index into the new index.
      directory.root.remove(name + "-wal")
      directory.root.remove(name + "-shm")
      do throws(CacheError) {
        _ = try OpenFile(name, in: directory.root, flags: OpenFile.making)
      } catch {
        throw CacheError(
          error.code == .noSpace ? .noSpace : .unavailable, "cannot make Cache.db", cause: error)
      }
      return true
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.damaged, "Cache.db is no regular file")
    }
    return status.st_size == 0
  }

  private static func check(header: [UInt8]) throws(CacheError) {
    guard header.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw CacheError(.damaged, "Cache.db is no database")
    }
    let (format, application) = (bigEndian(header[60..<64]), bigEndian(header[68..<72]))
    if application == Schema.applicationID, format > Schema.indexFormat { throw newer(format) }
    if Schema.unreleasedIDs.contains(application) {
      throw CacheError(.damaged, "Cache.db was made by a version before the first release")
    }
    if application == Schema.applicationID, format < Schema.indexFormat {
      throw CacheError(.damaged, "Cache.db has format \(format), which this version does not read")
    }
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }

  private static func create(
    _ connection: SQLiteConnection, _ settings: DirectorySettings
  ) throws(CacheError) {
    try connection.execute(Schema.layout)
    var generator = SystemRandomNumberGenerator()
    let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    try connection.transaction { () throws(CacheError) in
      try connection.execute(Schema.tables)
      try connection.run("INSERT INTO meta VALUES ('secret', ?)", [.blob(secret)])
      try settings.save(connection)
      try connection.execute(
        "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(Schema.indexFormat)")
    }
    // Write application id and format into the file itself, not only into the log.
    try connection.query("PRAGMA wal_checkpoint(TRUNCATE)") { _ in true }
  }
}
