import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore {
  /// Reads and checks everything: each record decodes, each body exists and has its length and checksums, each
  /// body file belongs to an entry, and the usage is correct. Other processes may read and write meanwhile.
  ///
  /// - Parameter repair: deletes damaged entries and files without an entry, and counts the usage again. A
  ///   damaged index is set aside and a new one started.
  /// - Throws: `CacheError` if the check cannot continue. Damage is a finding, not an error.
  public func verify(repair: Bool) async throws(CacheError) -> VerificationReport {
    var report = VerificationReport()
    let opened = try await checkedDirectory(repair: repair, &report)
    guard repair || report.isSound else { return report }
    var damaged: [Int64] = []
    // Impossible ids are checked too.
    var cursor = Int64.min
    while true {
      let start = cursor
      let step = try await fileQueue.run { [self] () throws(CacheError) in
        try checkSome(from: start, opened)
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
        try await onIndex { [self] (opened) throws(CacheError) in
          _ = try removeRows(
            in: opened, "SELECT \(EntryRow.columns) FROM entry WHERE id = ?", [.integer(id)])
        }
      }
    }
    try await checkOrphans(opened, repair: repair, &report)
    report.findings += try await onIndex { (opened) throws(CacheError) in
      try opened.index.write { (connection) throws(CacheError) in
        try Self.checkSums(connection, repair: repair)
      }
    }
    report.isRepaired = repair && !report.isSound
    return report
  }

  // Returns the directory after the index was checked. With `repair`, a damaged index is replaced first.
  private func checkedDirectory(
    repair: Bool, _ report: inout VerificationReport
  ) async throws(CacheError) -> OpenDirectory {
    let opened = try await onIndex { [self] (opened) throws(CacheError) in
      try writeBatch(opened)
      return opened
    }
    try await checkIndex(opened, &report)
    if report.isSound || !repair { return opened }
    return try await indexQueue.run { [self] () throws(CacheError) in
      try reopen(insteadOf: opened, isDamaged: true)
    }
  }

  private func checkIndex(
    _ opened: OpenDirectory, _ report: inout VerificationReport
  ) async throws(CacheError) {
    let messages = try await fileQueue.run { () throws(CacheError) in
      do throws(CacheError) {
        return try opened.index.read { (connection) throws(CacheError) in try connection.integrityErrors() }
      } catch {
        guard error.code == .damaged else { throw error }
        return [error.message]
      }
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
    /// The stored ranges of a partial body.
    let ranges: [Range<Int64>]?
  }

  /// Checks some entries from an id on. `last` is nil if there are no more.
  private func checkSome(from start: Int64, _ opened: OpenDirectory) throws(CacheError) -> Step {
    var (step, files) = try opened.index.read { (connection) throws(CacheError) in
      try Self.checkRows(from: start, opened.hashes, connection)
    }
    for file in files {
      let finding = try check(file, opened)
      step.bytes += file.length
      guard let finding else { continue }
      // The entry may have been replaced or removed while its file was checked.
      let isThere = try opened.index.read { (connection) throws(CacheError) in
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
    let all = Self.all
    try connection.query(
      """
      SELECT \(all.sql), \(EntryColumn.anyImpossibility) FROM entry WHERE id >= ? ORDER BY id LIMIT 64
      """, [.integer(start)]
    ) { row in
      let id = row.integer(all[.id])
      step.last = id
      step.entries += 1
      let record: CacheRecord
      do throws(CacheError) {
        record = try RecordCodec.decode(row.blob(all[.record]))
        let wrong = EntryColumn.allCases.first { !agrees($0, row, record, hashes) }
        if let wrong { throw CacheError(.damaged, "the index has a wrong \(wrong.name) for it") }
        guard row.integer(all.count) == 0 else {
          throw CacheError(.damaged, "the index has wrong numbers for it")
        }
      } catch {
        step.findings.append(.record(id: id, error.message))
        step.damaged.append(id)
        return true
      }
      let target = record.key.target
      if let path = row.text(all[.file]) {
        files.append(
          FileToCheck(
            id: id, target: target, path: path, length: row.integer(all[.length]),
            checksum: row.hash(all[.checksum]), ranges: record.storedRanges))
        return true
      }
      let body = row.blob(all[.body])
      step.bytes += Int64(body.count)
      if Int64(body.count) != row.integer(all[.length]) || XXH64.hash(body) != row.hash(all[.checksum]) {
        step.findings.append(.body(target: target, "the body in the index is not what was written"))
        step.damaged.append(id)
      }
      return true
    }
    return (step, files)
  }

  private static let all = EntrySelection(EntryColumn.allCases)

  /// Whether a column agrees with the record; true for a column that the record does not determine.
  private static func agrees(
    _ column: EntryColumn, _ row: SQLiteRow, _ record: CacheRecord, _ hashes: RowHashes
  ) -> Bool {
    let (key, place) = (record.key, all[column])
    let ranges = record.storedRanges
    return switch column {
    case .hash: hashes.hash(of: key) == row.hash(place)
    case .variant: hashes.variantHash(of: record) == row.hash(place)
    case .mode: row.integer(place) == Int64(key.mode.rawValue)
    case .method: row.integer(place) == Int64(key.methodClass.rawValue)
    case .partition: row.text(place) == key.partition
    case .target: row.text(place) == key.target
    case .digest: row.blob(place).elementsEqual(key.contentDigest)
    case .partial: row.integer(place) == (record.isComplete ? 0 : 1)
    case .length: row.integer(place) == ranges.map(StoredRanges.count) ?? record.bodyLength
    case .size: EntryRow.bounded(row.integer(place)) == row.integer(place)
    case .cost:
      row.integer(place)
        == (row.isNull(all[.file])
          ? 0 : NewEntry.fileCost(ranges ?? [0..<max(0, row.integer(all[.length]))]))
    case .file: record.isComplete || !row.isNull(place)
    case .id, .mark, .invalid, .pinned, .stored, .touched, .priority, .checksum, .groups, .record, .body: true
    }
  }

  private func check(
    _ file: FileToCheck, _ opened: OpenDirectory
  ) throws(CacheError) -> VerificationReport.Finding? {
    do throws(CacheError) {
      guard let name = BodyName(path: file.path), let body = try opened.directory.openBody(name)
      else { return .bodyMissing(target: file.target, path: file.path) }
      let size = try body.size()
      // A writer may have added to a partial body since its row was read.
      guard file.ranges == nil ? size == file.length : size >= file.ranges?.last?.upperBound ?? 0 else {
        return .body(target: file.target, "body has \(size) bytes, \(file.length) were written")
      }
      let pieces = try pieces(of: file, opened)
      guard pieces.cover(file.ranges ?? [0..<file.length]) else {
        return .body(target: file.target, "checksums of the body are missing")
      }
      try BlockReader(file: body, verification: .firstRead).checkAll { pieces }
      return nil
    } catch {
      guard error.code == .damaged else { throw error }
      return .body(target: file.target, error.message)
    }
  }

  private func pieces(of file: FileToCheck, _ opened: OpenDirectory) throws(CacheError) -> StoredPieces {
    if file.ranges == nil, file.length <= StoredPieces.blockLength {
      return StoredPieces(length: file.length, checksum: file.checksum)
    }
    return try opened.index.read { (connection) throws(CacheError) in
      try StoredPieces.load(
        connection, entry: file.id, wholeLength: file.ranges == nil ? file.length : nil)
    }
  }

  private func checkOrphans(
    _ opened: OpenDirectory, repair: Bool, _ report: inout VerificationReport
  ) async throws(CacheError) {
    report.findings += try await sweepQueue.run { [self] () throws(CacheError) in
      let deadOwners = OwnerLock.owners(in: opened.directory).dead
      var found: [VerificationReport.Finding] = []
      for shard in opened.directory.shards() {
        let files = try orphans(in: shard, of: opened, deadOwners: deadOwners)
        if repair { for file in files { opened.directory.removeFile(file, inShard: shard) } }
        found += files.map { .orphan(path: shard + "/" + $0) }
      }
      if repair { forget(deadOwners, of: opened) }
      return found
    }
  }

  private static func checkSums(
    _ connection: SQLiteConnection, repair: Bool
  ) throws(CacheError) -> [VerificationReport.Finding] {
    var findings: [VerificationReport.Finding] = []
    for table in ["block", "membership"] {
      let condition = "entry NOT IN (SELECT id FROM entry)"
      let count = try connection.number("SELECT count(*) FROM \(table) WHERE \(condition)") ?? 0
      guard count > 0 else { continue }
      findings.append(.danglingRows(table: table, count: count))
      if repair { try connection.run("DELETE FROM \(table) WHERE \(condition)") }
    }
    var state = try IndexState(connection)
    let entries = try connection.number("SELECT count(*) FROM entry") ?? 0
    // Limit the cost of each row: a damaged row that stays may have an impossible one.
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
