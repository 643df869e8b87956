import HTTPCacheFiles
import HTTPCacheStore

extension StoredPieces {
  /// The pieces of an entry; none if the entry was removed.
  ///
  /// - Parameter wholeLength: the length of the body if all of it is stored.
  /// - Throws: `CacheError.damaged` if the pieces are impossible.
  static func load(
    _ connection: SQLiteConnection, entry: Int64, wholeLength: Int64?
  ) throws(CacheError) -> StoredPieces {
    var pieces = StoredPieces()
    pieces.wholeLength = wholeLength
    try connection.query(
      "SELECT part, pieces FROM block WHERE entry = ? ORDER BY part", [.integer(entry)]
    ) { (row) throws(CacheError) in
      try pieces.append(row.blob(1), part: row.integer(0))
      return true
    }
    guard let wholeLength, !pieces.list.isEmpty else { return pieces }
    guard pieces.ranges == [0..<wholeLength], pieces.list.allSatisfy(pieces.isBlock) else {
      throw CacheError(.damaged, "index: checksums of the body are missing")
    }
    return pieces
  }

  /// Writes the rows of an entry that have pieces of a changed range.
  func save(
    _ connection: SQLiteConnection, entry: Int64, changed: Range<Int64> = 0..<farthest
  ) throws(CacheError) {
    for (part, bytes) in parts(changed: changed) {
      try connection.run(
        "INSERT OR REPLACE INTO block VALUES (?, ?, ?)", [.integer(entry), .integer(part), .blob(bytes)])
    }
  }
}

extension DiskIndex {
  /// The pieces of an entry; none if the entry was removed.
  ///
  /// - Parameter wholeLength: the length of the body if all of it is stored.
  /// - Throws: `CacheError.damaged` if the pieces are impossible.
  func pieces(of id: Int64, wholeLength: Int64? = nil) throws(CacheError) -> StoredPieces {
    try read { (connection) throws(CacheError) in
      try StoredPieces.load(connection, entry: id, wholeLength: wholeLength)
    }
  }
}
