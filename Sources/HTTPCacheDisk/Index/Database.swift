import HTTPCacheFiles
import HTTPCacheLibC
import HTTPCacheStore

/// A connection to an index that was checked or made.
struct Database {
  let connection: SQLiteConnection
  let secret: [UInt8]
  let settings: DirectorySettings
  let isNew: Bool
  /// The number of the last change.
  let sequence: Int64

  /// - Parameters:
  ///   - settings: the settings for a new index.
  ///   - lastCommit: the highest number of a committed change. A new index gives higher numbers.
  init(
    in directory: CacheDirectory, durability: Durability, settings: DirectorySettings, lastCommit: Int64
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
      try Self.create(connection, settings, lastCommit)
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
        _ = try CacheFile(name, in: directory.root, flags: CacheFile.making)
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
    guard application == Schema.applicationID else { return }
    if format > Schema.indexFormat { throw newer(format) }
    if format < Schema.indexFormat {
      throw CacheError(.damaged, "Cache.db has format \(format), which this version does not read")
    }
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }

  private static func create(
    _ connection: SQLiteConnection, _ settings: DirectorySettings, _ lastCommit: Int64
  ) throws(CacheError) {
    try connection.execute(Schema.layout)
    let secret = [UInt8].random(count: 32)
    try connection.transaction { () throws(CacheError) in
      try connection.execute(Schema.tables)
      // The clock may have been set back since the earlier index was made.
      try connection.run("UPDATE state SET sequence = max(sequence, ?)", [.integer(lastCommit)])
      try connection.run("INSERT INTO meta VALUES ('secret', ?)", [.blob(secret)])
      try settings.save(connection)
      try connection.execute(
        "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(Schema.indexFormat)")
    }
    // Write application id and format into the file itself, not only into the log.
    try connection.query("PRAGMA wal_checkpoint(TRUNCATE)") { _ in true }
  }
}
