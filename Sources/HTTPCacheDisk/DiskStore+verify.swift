import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore {
  /// Reads and checks everything: each record decodes, each body is there, has its length and holds its
  /// checksums, each file belongs to an entry, the usage is right. Others may read and write meanwhile.
  ///
  /// - Parameter repair: deletes what is damaged and what belongs to nothing, and counts usage anew. A
  ///   damaged index is set aside and a new one started.
  /// - Throws: `CacheError` if it cannot go on; damage is no error but a finding.
  public func verify(repair: Bool) async throws(CacheError) -> VerificationReport {
    var report = VerificationReport()
    let parts = try await checkedParts(repair: repair, &report)
    guard repair || report.isSound else { return report }
    var damaged: [Int64] = []
    // Ids that cannot be are looked at as well.
    var cursor = Int64.min
    while true {
      let start = cursor
      let step = try await fileQueue.run { [self] () throws(CacheError) in
        try checkSome(from: start, parts)
      }
      if let last = step.last { cursor = last.addingReportingOverflow(1).partialValue }
      report.entries += step.entries
      report.bytes += step.bytes
      report.findings += step.findings
      damaged += step.damaged
      guard cursor > step.last ?? .max else { break }
    }
    if repair {
      for id in damaged {
        try await onIndex { [self] (parts) throws(CacheError) in
          _ = try removeRows(
            in: parts, "SELECT \(EntryRow.columns) FROM entry WHERE id = ?", [.integer(id)])
        }
      }
    }
    await awaitSweeps()
    try await checkOrphans(parts, repair: repair, &report)
    report.findings += try await onIndex { (parts) throws(CacheError) in
      try parts.index.write { (connection) throws(CacheError) in
        try Self.checkSums(connection, repair: repair)
      }
    }
    report.isRepaired = repair && !report.isSound
    return report
  }

  // With an index that SQLite finds sound, if it may be replaced.
  private func checkedParts(
    repair: Bool, _ report: inout VerificationReport
  ) async throws(CacheError) -> StoreParts {
    let parts = try await onIndex { [self] (parts) throws(CacheError) in
      try writeBatch(parts)
      return parts
    }
    try await checkIndex(parts, &report)
    if report.isSound || !repair { return parts }
    return try await indexQueue.run { [self] () throws(CacheError) in
      try reopen(insteadOf: parts, isDamaged: true)
    }
  }

  private func checkIndex(
    _ parts: StoreParts, _ report: inout VerificationReport
  ) async throws(CacheError) {
    let messages = try await fileQueue.run { () throws(CacheError) -> [String] in
      var messages: [String] = []
      do throws(CacheError) {
        try parts.index.read { (connection) throws(CacheError) in
          try connection.query("PRAGMA integrity_check(20)") { row in
            if let text = row.text(0), text != "ok" { messages.append(text) }
            return true
          }
        }
      } catch {
        guard error.code == .damaged else { throw error }
        messages.append(error.message)
      }
      return messages
    }
    report.findings += messages.map { .index($0) }
  }

  private struct Step: Sendable {
    var last: Int64?
    var entries = 0
    var bytes: Int64 = 0
    var findings: [VerificationReport.Finding] = []
    var damaged: [Int64] = []
  }

  private struct FileToCheck: Sendable {
    let id: Int64
    let target: String
    let path: String
    let length: Int64
    let checksum: UInt64
    /// The ranges of a part.
    let ranges: [Range<Int64>]?
  }

  /// Checks some entries from an id on; `last` is nil when there are no more.
  private func checkSome(from start: Int64, _ parts: StoreParts) throws(CacheError) -> Step {
    var (step, files) = try parts.index.read { (connection) throws(CacheError) in
      try Self.checkRows(from: start, parts.hashes, connection)
    }
    for file in files {
      let finding = try check(file, parts)
      step.bytes += file.length
      guard let finding else { continue }
      // It may have been replaced or removed while it was being looked at.
      let isThere = try parts.index.read { (connection) throws(CacheError) in
        try connection.number("SELECT 1 FROM entry WHERE id = ?", [.integer(file.id)]) != nil
      }
      guard isThere else { continue }
      step.findings.append(finding)
      step.damaged.append(file.id)
    }
    return step
  }

  private static func checkRows(
    from start: Int64, _ hashes: RowHashes, _ connection: SQLiteConnection
  ) throws(CacheError) -> (Step, [FileToCheck]) {
    var step = Step()
    var files: [FileToCheck] = []
    try connection.query(
      """
      SELECT id, length, file, checksum, record, body, target, hash, variant, partial, cost, size,
      \(impossibleNumbers)
      FROM entry
      WHERE id >= ? ORDER BY id LIMIT 64
      """, [.integer(start)]
    ) { row in
      let id = row.integer(0)
      step.last = id
      step.entries += 1
      let target = row.text(6) ?? ""
      var ranges: [Range<Int64>]?
      do throws(CacheError) {
        let record = try RecordCodec.decode(row.blob(4))
        guard hashes.hash(of: record.key) == row.hash(7), hashes.variantHash(of: record) == row.hash(8),
          record.key.target == target
        else { throw CacheError(.damaged, "record and index differ in the key") }
        ranges = record.storedRanges
        guard record.isComplete == (row.integer(9) == 0),
          StoredRanges.count(ranges ?? []) == (record.isComplete ? 0 : row.integer(1))
        else { throw CacheError(.damaged, "record and index differ in what is stored") }
        let length = row.integer(1)
        let cost = row.isNull(2) ? 0 : NewEntry.fileCost(ranges ?? [0..<max(0, length)])
        guard EntryRow.bounded(length) == length, row.integer(10) == cost,
          EntryRow.bounded(row.integer(11)) == row.integer(11), row.integer(12) == 0
        else { throw CacheError(.damaged, "the index has wrong numbers for it") }
      } catch {
        step.findings.append(.record(id: id, error.message))
        step.damaged.append(id)
        return true
      }
      if let path = row.text(2) {
        files.append(
          FileToCheck(
            id: id, target: target, path: path, length: row.integer(1), checksum: row.hash(3),
            ranges: ranges))
        return true
      }
      let body = row.blob(5)
      step.bytes += Int64(body.count)
      if Int64(body.count) != row.integer(1) || XXH64.hash(body) != row.hash(3) {
        step.findings.append(.body(target: target, "the body in the index is not what was written"))
        step.damaged.append(id)
      }
      return true
    }
    return (step, files)
  }

  // Of a row, beside those that are compared with its record.
  private static let impossibleNumbers = """
    (id <= 0 OR pinned NOT IN (0, 1) OR invalid NOT IN (0, 1)
    OR typeof(mark) <> 'integer' OR mark < 0 OR typeof(stored) <> 'integer'
    OR typeof(touched) <> 'integer' OR typeof(groups) <> 'integer' OR groups < 0
    OR typeof(priority) <> 'real' OR priority < 0 OR priority > 1e300)
    """

  private func check(
    _ file: FileToCheck, _ parts: StoreParts
  ) throws(CacheError) -> VerificationReport.Finding? {
    do throws(CacheError) {
      guard let name = BodyName(path: file.path), let opened = try parts.directory.openBody(name)
      else { return .bodyMissing(target: file.target, path: file.path) }
      let size = try opened.size()
      if let ranges = file.ranges {
        return try check(ranges, of: file, in: opened, size: size, parts)
      }
      guard size == file.length else {
        return .body(target: file.target, "body has \(size) bytes, \(file.length) were written")
      }
      var checksums = BlockChecksums(values: [file.checksum])
      if file.length > BlockChecksums.blockLength {
        checksums = try parts.index.read { (connection) throws(CacheError) in
          try BlockChecksums.load(connection, entry: file.id)
        }
      }
      guard checksums.values.count == BlockChecksums.count(length: file.length) else {
        return .body(target: file.target, "checksums of the body are missing")
      }
      try BlockReader(file: opened, verification: .firstRead)
        .checkAll(length: file.length, checksums: checksums)
      return nil
    } catch {
      guard error.code == .damaged else { throw error }
      return .body(target: file.target, error.message)
    }
  }

  private func check(
    _ ranges: [Range<Int64>], of file: FileToCheck, in opened: OpenFile, size: Int64,
    _ parts: StoreParts
  ) throws(CacheError) -> VerificationReport.Finding? {
    let pieces = try parts.index.read { (connection) throws(CacheError) in
      try StoredPieces.load(connection, entry: file.id)
    }
    // More may have come since the row was read.
    guard pieces.cover(ranges) else {
      return .body(target: file.target, "checksums of parts of the body are missing")
    }
    guard size >= ranges.last?.upperBound ?? 0 else {
      return .body(target: file.target, "body has \(size) bytes, too few for its parts")
    }
    try PieceReader(file: opened, verification: .firstRead).checkAll(pieces)
    return nil
  }

  private func checkOrphans(
    _ parts: StoreParts, repair: Bool, _ report: inout VerificationReport
  ) async throws(CacheError) {
    let deadOwners = try await fileQueue.run { OwnerLock.owners(in: parts.directory).dead }
    for shard in parts.directory.shards() {
      report.findings += try await fileQueue.run { [self] () throws(CacheError) in
        let found = try orphans(in: shard, of: parts, deadOwners: deadOwners)
        if repair { for file in found { parts.directory.removeFile(file, inShard: shard) } }
        return found.map { .orphan(path: shard + "/" + $0) }
      }
    }
    if repair { forget(deadOwners, of: parts) }
  }

  private static func checkSums(
    _ connection: SQLiteConnection, repair: Bool
  ) throws(CacheError) -> [VerificationReport.Finding] {
    var findings: [VerificationReport.Finding] = []
    for table in ["block", "piece", "membership"] {
      let condition = "entry NOT IN (SELECT id FROM entry)"
      let count = try connection.number("SELECT count(*) FROM \(table) WHERE \(condition)") ?? 0
      guard count > 0 else { continue }
      findings.append(.danglingRows(table: table, count: count))
      if repair { try connection.run("DELETE FROM \(table) WHERE \(condition)") }
    }
    var state = try IndexState(connection)
    let entries = try connection.number("SELECT count(*) FROM entry") ?? 0
    // Of rows that are damaged and stay for now nothing is believed.
    let bodies =
      try connection.number(
        "SELECT total(max(0, min(cost, \(IndexState.mostBytes)))) FROM entry") ?? 0
    if state.entries != entries || state.bodies != bodies {
      findings.append(
        .usage(
          entries: state.entries, counted: entries, bytes: state.bodies, countedBytes: bodies))
      if repair {
        state.entries = entries
        state.bodies = bodies
        try state.save(connection)
      }
    }
    return findings
  }
}
