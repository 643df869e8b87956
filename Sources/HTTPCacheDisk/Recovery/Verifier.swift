import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore

/// Reads and checks everything that is stored (`DiskStore.verify`).
struct Verifier: Sendable {
  let thread: IndexThread
  let batch: ChangeBatch
  let sweeper: Sweeper
  let reader: EntryReader

  func verify(repair: Bool) async throws(CacheError) -> VerificationReport {
    var report = VerificationReport()
    let opened = try await checkedDirectory(repair: repair, &report)
    guard repair || report.isSound else { return report }
    var damaged: [Int64] = []
    // Impossible ids are checked too.
    var cursor = Int64.min
    while true {
      let start = cursor
      let step = try await sweeper.queue.run { [self] () throws(CacheError) in
        try checkSome(from: start, in: opened)
      }
      if let last = step.last { cursor = last.addingReportingOverflow(1).partialValue }
      report.entries += step.entries
      report.bytes = report.bytes.saturatingAdd(step.bytes)
      report.findings += step.findings
      damaged += step.damaged
      guard cursor > step.last ?? .max else { break }
    }
    if repair {
      for id in damaged {
        try await thread.run { (opened) throws(CacheError) in
          _ = try opened.removeRows(where: "id = ?", [.integer(id)])
        }
      }
    }
    try await checkOrphans(opened, repair: repair, &report)
    report.findings += try await thread.run { (opened) throws(CacheError) in
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
    let opened = try await thread.run { [self] (opened) throws(CacheError) in
      try batch.write(in: opened)
      return opened
    }
    let messages = try await sweeper.queue.run { () throws(CacheError) in
      do throws(CacheError) {
        return try opened.index.read { (connection) throws(CacheError) in try connection.integrityErrors() }
      } catch {
        guard error.code == .damaged else { throw error }
        return [error.message]
      }
    }
    report.findings += messages.map { .index($0) }
    if report.isSound || !repair { return opened }
    return try await thread.replaceDamaged(opened)
  }

  private struct Step: Sendable {
    var last: Int64?
    var entries = 0
    var bytes: Int64 = 0
    var findings: [VerificationReport.Finding] = []
    var damaged: [Int64] = []
  }

  private struct FileToCheck: Sendable {
    let row: EntryRow
    let record: CacheRecord
    let path: String
  }

  /// Checks some entries from an id on. `last` is nil if there are no more.
  private func checkSome(from start: Int64, in opened: OpenDirectory) throws(CacheError) -> Step {
    var (step, files) = try opened.index.read { (connection) throws(CacheError) in
      try Self.checkRows(from: start, hashes: opened.hashes, on: connection)
    }
    for file in files {
      step.bytes = step.bytes.saturatingAdd(file.row.length)
      guard let finding = try check(file, in: opened), try isStored(file, in: opened) else { continue }
      step.findings.append(finding)
      step.damaged.append(file.row.id)
    }
    return step
  }

  // The entry may have been replaced or removed while its file was checked.
  private func isStored(_ file: FileToCheck, in opened: OpenDirectory) throws(CacheError) -> Bool {
    try opened.index.number("SELECT 1 FROM entry WHERE id = ?", [.integer(file.row.id)]) != nil
  }

  private static func checkRows(
    from start: Int64, hashes: RowHashes, on connection: SQLiteConnection
  ) throws(CacheError) -> (Step, [FileToCheck]) {
    var step = Step()
    var files: [FileToCheck] = []
    let all = Self.all
    try connection.query(
      """
      SELECT \(all.sql), \(EntryColumn.anyImpossibility) FROM entry WHERE id >= ? ORDER BY id LIMIT 64
      """, [.integer(start)]
    ) { row in
      let entry = EntryRow(row)
      step.last = entry.id
      step.entries += 1
      let record: CacheRecord
      do throws(CacheError) {
        record = try RecordCodec.decode(row.blob(all[.record]), sequence: UInt64(bitPattern: entry.id))
        let wrong = EntryColumn.allCases.first { column in
          let value = column.value(
            for: record, hashes: hashes, length: row.integer(all[.length]), hasFile: entry.hasFile)
          return value.map { !row.has($0, all[column]) } ?? false
        }
        if let wrong { throw CacheError(.damaged, "the index has a wrong \(wrong.name) for it") }
        guard row.integer(all.count) == 0, record.isComplete || entry.hasFile else {
          throw CacheError(.damaged, "the index has wrong numbers for it")
        }
      } catch {
        step.findings.append(.record(id: entry.id, error.message))
        step.damaged.append(entry.id)
        return true
      }
      if entry.hasFile {
        files.append(FileToCheck(row: entry, record: record, path: row.text(all[.file]) ?? ""))
        return true
      }
      let body = row.blob(all[.body])
      step.bytes = step.bytes.saturatingAdd(Int64(body.count))
      if Int64(body.count) != entry.length || XXH64.hash(body) != entry.checksum {
        step.findings.append(
          .body(target: record.key.target, "the body in the index is not what was written"))
        step.damaged.append(entry.id)
      }
      return true
    }
    return (step, files)
  }

  private static let all = EntrySelection(
    EntryRow.columns + EntryColumn.allCases.filter { !EntryRow.columns.contains($0) })

  private func check(
    _ file: FileToCheck, in opened: OpenDirectory
  ) throws(CacheError) -> VerificationReport.Finding? {
    let target = file.record.key.target
    do throws(CacheError) {
      guard let name = file.row.file, try opened.directory.openBody(name) != nil else {
        return .bodyMissing(target: target, path: file.path)
      }
      let context = StoredFileBody.Context(
        opened: opened, queue: reader.fileQueue, verification: .everyRead,
        checkedBodies: reader.checkedBodies, onDamage: { _, _ in })
      try StoredFileBody(file.row, name: name, record: file.record, context: context).blocks().checkAll()
      return nil
    } catch {
      if error.code == .damaged { return .body(target: target, error.message) }
      if try !isStored(file, in: opened) { return nil }
      throw error
    }
  }

  private func checkOrphans(
    _ opened: OpenDirectory, repair: Bool, _ report: inout VerificationReport
  ) async throws(CacheError) {
    report.findings += try await sweeper.queue.run { [self] () throws(CacheError) in
      let deadOwners = try OwnerLock.owners(in: opened.directory).dead
      var found: [VerificationReport.Finding] = []
      let isComplete = try sweeper.orphans(of: opened, deadOwners: deadOwners) { name in
        if repair { opened.directory.removeBody(name) }
        found.append(.orphan(path: name.fileName))
      }
      if repair { sweeper.finishSweep(of: opened, deadOwners: deadOwners, isComplete: isComplete) }
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
