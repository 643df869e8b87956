import HTTPCacheSemantics
import HTTPCacheStore

/// The columns of the table `entry`. This list makes the table, the statement that inserts a row, the
/// positions of columns in results, and the comparisons of `verify`. For a new column, add a case: the
/// compiler asks for its type and values, and CONTRIBUTING.md tells the rest.
enum EntryColumn: Int, CaseIterable, Sendable {
  case id, hash, variant, mark, invalid, pinned
  /// When the response was stored or last freshened: its response time.
  case stored
  case touched, priority, size, cost, length, checksum, mode, method, groups, partition, target, digest, file,
    record, body, partial

  var name: String { String(describing: self) }

  /// The type and the constraint.
  var declaration: String {
    switch self {
    case .id: "INTEGER PRIMARY KEY"
    case .hash, .variant, .mark, .invalid, .pinned, .stored, .touched, .size, .cost, .length, .checksum,
      .mode,
      .method, .groups, .partial:
      "INTEGER NOT NULL"
    case .priority: "REAL NOT NULL"
    case .partition, .target: "TEXT NOT NULL"
    case .digest, .record: "BLOB NOT NULL"
    case .file: "TEXT"
    case .body: "BLOB"
    }
  }

  /// The value that follows from the record and the body; nil for a column that has other reasons. A
  /// column that may be empty has `.null` then, not nil.
  ///
  /// - Parameters:
  ///   - length: bytes of the body that are stored.
  ///   - hasFile: whether the body is in a file.
  func value(for record: CacheRecord, hashes: RowHashes, length: Int64, hasFile: Bool) -> SQLiteValue? {
    let key = record.key
    return switch self {
    case .hash: .hash(hashes.hash(of: key))
    case .variant: .hash(hashes.variantHash(of: record))
    case .mode: .integer(Int64(key.mode.rawValue))
    case .method: .integer(Int64(key.methodClass.rawValue))
    case .partition: .text(key.partition)
    case .target: .text(key.target)
    case .digest: .blob(key.contentDigest)
    case .partial: .integer(record.isComplete ? 0 : 1)
    case .stored: .integer(record.response.responseTime.seconds)
    case .length: .integer(record.storedRanges.map(StoredRanges.count) ?? record.bodyLength ?? length)
    case .cost: .integer(hasFile ? NewEntry.fileCost(record.storedRanges ?? [0..<max(0, length)]) : 0)
    case .id, .mark, .invalid, .pinned, .touched, .priority, .size, .checksum, .groups, .file, .record, .body:
      nil
    }
  }

  /// An SQL condition that is true for values that are impossible whatever the record is; nil for a column
  /// that is compared with the record or with the body.
  var impossibility: String? {
    switch self {
    case .id: "id <= 0"
    case .pinned: "\(name) NOT IN (0, 1)"
    case .invalid: "\(name) NOT IN (0, \(EntryRow.invalidated), \(EntryRow.expired))"
    case .mark, .groups: "typeof(\(name)) <> 'integer' OR \(name) < 0"
    case .touched: "typeof(touched) <> 'integer'"
    case .priority: "typeof(priority) <> 'real' OR priority < 0 OR priority > 1e300"
    case .size: "size NOT BETWEEN 0 AND \(IndexState.mostBytes)"
    case .hash, .variant, .stored, .cost, .length, .checksum, .mode, .method, .partition, .target, .digest,
      .file, .record, .body, .partial:
      nil
    }
  }

  /// An SQL condition that is true for a row with an impossible value.
  static let anyImpossibility =
    "(" + allCases.compactMap(\.impossibility).joined(separator: " OR ") + ")"

  /// The statement that makes the table.
  static let table =
    "CREATE TABLE entry (" + allCases.map { "\($0.name) \($0.declaration)" }.joined(separator: ", ") + ");"

  /// The statement that inserts a row, with one parameter for each column in their order.
  static let insertion =
    "INSERT INTO entry (\(allCases.map(\.name).joined(separator: ", "))) VALUES "
    + "(\(allCases.map { _ in "?" }.joined(separator: ", ")))"
}

extension SQLiteConnection {
  /// Writes values into columns of a row.
  func update(_ id: Int64, _ values: [(column: EntryColumn, value: SQLiteValue)]) throws(CacheError) {
    let changes = values.map { "\($0.column.name) = ?" }.joined(separator: ", ")
    try run("UPDATE entry SET \(changes) WHERE id = ?", values.map(\.value) + [.integer(id)])
  }
}

/// Columns of `entry` at the beginning of a result.
struct EntrySelection: Sendable {
  /// The columns as SQL, for use after `SELECT`.
  let sql: String
  /// The number of these columns: the position of the next column of the result.
  let count: Int32
  private let places: [Int32]

  init(_ columns: [EntryColumn]) {
    sql = columns.map(\.name).joined(separator: ", ")
    count = Int32(columns.count)
    var places = [Int32](repeating: -1, count: EntryColumn.allCases.count)
    for (place, column) in columns.enumerated() { places[column.rawValue] = Int32(place) }
    self.places = places
  }

  /// The position of a column, which must be one of these.
  subscript(column: EntryColumn) -> Int32 {
    assert(places[column.rawValue] >= 0, "\(column) is not selected")
    return places[column.rawValue]
  }
}

/// The hashes that lead to rows and to the counters shared with other processes. They are keyed with the
/// secret of the directory, so that no client can choose keys that share a hash.
struct RowHashes: Sendable {
  private let keys: SipHash13.Secret
  private let variants: SipHash13.Secret

  /// - Parameter secret: the 32 bytes of the directory's secret: 16 for keys, 16 for variants.
  init(secret: [UInt8]) {
    keys = SipHash13.Secret(secret.prefix(16))
    variants = SipHash13.Secret(secret.dropFirst(16))
  }

  func hash(of key: CacheKey) -> UInt64 { key.hash(under: keys) }

  /// The hash of a variant, given as the bytes that `RecordCodec.variant(of:)` returns.
  func hash(ofVariant variant: [UInt8]) -> UInt64 { SipHash13.hash(variant, variants) }

  func variantHash(of record: CacheRecord) -> UInt64 { hash(ofVariant: RecordCodec.variant(of: record)) }
}
