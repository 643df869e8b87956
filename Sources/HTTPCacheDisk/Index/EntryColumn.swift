/// The columns of the table `entry`. The table, the statement that inserts a row, the places of columns in results and
/// what `verify` compares are made of this list: a new column is one more case, and the compiler asks for the rest.
enum EntryColumn: Int, CaseIterable, Sendable {
  case id, hash, variant, mark, invalid, pinned, stored, touched, priority, size, cost, length, checksum,
    mode,
    method, groups, partition, target, digest, file, record, body, partial

  var name: String { String(describing: self) }

  /// Type and constraint.
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

  /// Says of a value in SQL that it cannot be, whatever the record is; nil for a column that is compared with the
  /// record, or with the body.
  var impossibility: String? {
    switch self {
    case .id: "id <= 0"
    case .pinned, .invalid: "\(name) NOT IN (0, 1)"
    case .mark, .groups: "typeof(\(name)) <> 'integer' OR \(name) < 0"
    case .stored, .touched: "typeof(\(name)) <> 'integer'"
    case .priority: "typeof(priority) <> 'real' OR priority < 0 OR priority > 1e300"
    case .hash, .variant, .size, .cost, .length, .checksum, .mode, .method, .partition, .target, .digest,
      .file,
      .record, .body, .partial:
      nil
    }
  }

  /// Of a row that holds what cannot be.
  static let anyImpossibility =
    "(" + allCases.compactMap(\.impossibility).joined(separator: " OR ") + ")"

  /// What makes the table.
  static let table =
    "CREATE TABLE entry (" + allCases.map { "\($0.name) \($0.declaration)" }.joined(separator: ", ") + ");"

  /// Inserts a row, with one parameter for each column (`parameter`).
  static let insertion = FrequentStatement(
    "INSERT INTO entry (\(allCases.map(\.name).joined(separator: ", "))) VALUES "
      + "(\(allCases.map { _ in "?" }.joined(separator: ", ")))")

  /// The number of its parameter in `insertion`.
  var parameter: Int32 { Int32(rawValue) + 1 }
}

/// Columns of `entry` in a result, before anything else that is selected.
struct EntrySelection: Sendable {
  /// What comes after `SELECT`.
  let sql: String
  /// The place of what is selected after them.
  let count: Int32
  private let places: [Int32]

  init(_ columns: [EntryColumn]) {
    sql = columns.map(\.name).joined(separator: ", ")
    count = Int32(columns.count)
    var places = [Int32](repeating: -1, count: EntryColumn.allCases.count)
    for (place, column) in columns.enumerated() { places[column.rawValue] = Int32(place) }
    self.places = places
  }

  /// The place of a column, which must be among them.
  subscript(column: EntryColumn) -> Int32 {
    assert(places[column.rawValue] >= 0, "\(column) is not selected")
    return places[column.rawValue]
  }
}
