import HTTPCacheStore

/// The tables of the index, as `docs/disk-format.md` describes them.
enum Schema {
  /// `HTCc`: identifies the databases of this cache.
  static let applicationID: Int64 = 0x4854_4363
  /// The format that this version writes. An index of a higher format is neither read nor written.
  static let indexFormat: Int64 = 1
  /// The maximum size of the log after a checkpoint, in bytes.
  static let logLimit: Int64 = 4 << 20
  /// The bytes by which the log may exceed its limit while a process reads an old state of the index.
  static let logSlack: Int64 = 1 << 20
  /// The number of pages in the log from which a checkpoint is made. With the pages of one more transaction,
  /// the log stays below its limit.
  static let logPages = 920

  /// The first number for changes of a new index, or of an index of an older format: the microseconds since
  /// 1970. A process may still know entries of an index that was set aside, and must not confuse them with
  /// entries of the new index. An index makes less than one change a microsecond, so a later index begins
  /// above all its numbers. The last three digits are random.
  static let firstSequence =
    "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000 + abs(random() % 1000)"

  /// Set before the first table is made; without effect afterwards. With `auto_vacuum`, each commit gives the
  /// pages of deleted rows back, so the file has no free pages.
  static let layout = """
    PRAGMA page_size = 4096;
    PRAGMA auto_vacuum = FULL;
    PRAGMA journal_mode = WAL;
    """

  static let tables = """
    CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE state (
      id INTEGER PRIMARY KEY CHECK (id = 0), sequence INTEGER NOT NULL, entries INTEGER NOT NULL,
      bodies INTEGER NOT NULL);
    CREATE TABLE counts (
      id INTEGER PRIMARY KEY CHECK (id = 0), hits INTEGER NOT NULL, validated INTEGER NOT NULL,
      misses INTEGER NOT NULL, stores INTEGER NOT NULL, evictions INTEGER NOT NULL,
      hitBytes INTEGER NOT NULL, originBytes INTEGER NOT NULL);
    \(EntryColumn.table)
    CREATE INDEX entryKey ON entry (hash, variant, partial);
    CREATE INDEX entryTarget ON entry (target);
    CREATE INDEX entryOrder ON entry (priority, touched) WHERE pinned = 0;
    CREATE INDEX entryFile ON entry (file) WHERE file IS NOT NULL;
    CREATE INDEX entryPartial ON entry (id) WHERE partial = 1;
    CREATE INDEX entryPartition ON entry (partition) WHERE partition <> '';
    CREATE TABLE block (
      entry INTEGER NOT NULL, part INTEGER NOT NULL, pieces BLOB NOT NULL,
      PRIMARY KEY (entry, part)) WITHOUT ROWID;
    CREATE TABLE refusal (
      id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, time INTEGER NOT NULL,
      status INTEGER NOT NULL, steps BLOB NOT NULL);
    CREATE INDEX refusalHash ON refusal (hash);
    CREATE TABLE membership (
      origin TEXT NOT NULL, name TEXT NOT NULL, entry INTEGER NOT NULL,
      PRIMARY KEY (origin, name, entry)) WITHOUT ROWID;
    CREATE INDEX membershipEntry ON membership (entry);
    CREATE TABLE epoch (
      kind INTEGER NOT NULL, mode INTEGER NOT NULL, scope TEXT NOT NULL, name TEXT NOT NULL,
      sequence INTEGER NOT NULL, PRIMARY KEY (kind, mode, scope, name)) WITHOUT ROWID;
    INSERT INTO state VALUES (0, \(firstSequence), 0, 0);
    INSERT INTO counts VALUES (0, 0, 0, 0, 0, 0, 0, 0);
    """

  /// The names of all tables.
  static let tableNames = [
    "meta", "state", "counts", "entry", "block", "membership", "epoch", "refusal",
  ]

  /// The settings of each connection. Temporary data stay in memory: SQLite would put temporary files outside
  /// the directory, where they do not count as usage.
  static func settings(durability: Durability) -> String {
    """
    PRAGMA synchronous = \(durability == .durable ? "FULL" : "NORMAL");
    PRAGMA journal_size_limit = \(logLimit);
    PRAGMA cache_size = -2048;
    PRAGMA cache_spill = OFF;
    PRAGMA temp_store = MEMORY;
    PRAGMA secure_delete = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    """
  }
}
