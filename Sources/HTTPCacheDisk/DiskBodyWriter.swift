import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Writes one body from its start: in memory as long as it is small, then block by block into a file
/// under a temporary name, which gets its final name when it is complete, and its row after that. One
/// that can be resumed gets name and row, as a part, with its first block.
final class DiskBodyWriter: BodyWriter {
  private let store: DiskStore
  private let parts: StoreParts
  private let record: CacheRecord
  private let variantLimit: Int
  private let limit: Int64
  private let body = GrowingBody()
  private let file: BodyFile
  private let row: PartialRow
  private let phase: WriterPhase
  // Bytes of the body for which there is room.
  private let roomed = Atomic<Int64>(0)

  init(
    store: DiskStore, parts: StoreParts, record: CacheRecord, variantLimit: Int, limit: Int64
  ) {
    self.store = store
    self.parts = parts
    self.record = record
    self.variantLimit = variantLimit
    self.limit = limit
    file = BodyFile(store: store, parts: parts)
    row = PartialRow(store: store, parts: parts)
    phase = WriterPhase(key: record.key, reservations: parts.reservations)
  }

  deinit { abandon() }

  var bytesWritten: Int64 { body.written }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    guard !bytes.isEmpty else { return }
    try phase.check()
    guard body.written + Int64(bytes.count) <= limit else {
      throw fail(
        CacheError(.tooLarge, "more than \(limit) bytes", key: record.key))
    }
    let buffered = body.append(bytes)
    reserve()
    guard buffered >= BlockChecksums.blockLength else { return }
    do throws(CacheError) {
      let written = body.written
      try await makeRoom(length: record.bodyLength ?? written)
      try await store.fileQueue.run { () throws(CacheError) in try self.flush(all: false) }
      if record.isResumable { await checkpoint() }
    } catch {
      throw fail(error)
    }
  }

  @discardableResult
  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    try phase.beginFinish()
    var response = record.response
    response.trailers = trailers
    return try await finish(record.with(response: response), isWhole: true)
  }

  @discardableResult
  func keep() async throws(CacheError) -> CacheRecord? {
    try phase.check()
    guard record.isResumable, body.written > 0 else {
      abandon()
      return nil
    }
    try phase.beginFinish()
    return try await finish(record, isWhole: false)
  }

  func abandon() {
    if phase.isOpen {
      _ = fail(CacheError(.closed, "the writer gave up", key: record.key))
    }
  }

  func reader() throws(CacheError) -> any BodyReader {
    GrowingBodyReader(body: body, record: record, queue: store.fileQueue)
  }

  /// Ends; what was written goes.
  private func fail(_ error: CacheError) -> CacheError {
    if let reserved = phase.end(error) {
      file.end(.discarded, reserved: reserved)
      if let full = error.fullFileSystem { store.didRunOutOfSpace(full) }
    }
    return error
  }

  private func finish(
    _ record: CacheRecord, isWhole: Bool
  ) async throws(CacheError) -> CacheRecord {
    do throws(CacheError) {
      let stored = try await store(arrived(record, isWhole: isWhole))
      if stored.isComplete { body.complete() }
      let reserved = phase.end(CacheError(.closed, "committed already", key: record.key))
      file.end(.stored, reserved: reserved ?? 0)
      return stored
    } catch {
      throw fail(error)
    }
  }

  /// The record for what came.
  private func arrived(_ record: CacheRecord, isWhole: Bool) throws(CacheError) -> CacheRecord {
    let written = body.written
    let announced = record.bodyLength
    guard isWhole ? announced ?? written == written : written <= announced ?? .max else {
      throw CacheError(
        .damaged, "\(announced ?? 0) bytes were announced, \(written) came", key: record.key)
    }
    if isWhole { return record.storing(nil, bodyLength: written) }
    return record.holding([0..<written], bodyLength: announced)
  }

  /// Makes room for what came, before it is written.
  private func makeRoom(length: Int64) async throws(CacheError) {
    let written = body.written
    let rest = written - roomed.load(ordering: .relaxed)
    guard rest > 0 else { return }
    try await store.makeSpace(for: record, bytes: rest, length: length, sparing: row.id, in: parts)
    roomed.store(written, ordering: .relaxed)
  }

  private func store(_ record: CacheRecord) async throws(CacheError) -> CacheRecord {
    let written = body.written
    if written <= NewEntry.inlineLimit, file.name == nil {
      let bytes = body.buffered(upTo: written)
      let checksum = bytes.withUnsafeBytes { XXH64.hash($0) }
      let entry = try entry(
        record, .inline(bytes), written, checksums: BlockChecksums(values: [checksum]))
      return try await store.insert(entry, into: parts)
    }
    do throws(CacheError) { try await makeRoom(length: written) } catch {
      guard error.code == .notAdmitted, file.name == nil else { throw error }
      // Nothing was written, and nothing will be.
      return try await store.removeReplaced(
        by: try entry(record, .inline(BodyBytes()), written, checksums: BlockChecksums()), in: parts)
    }
    let made = try await store.fileQueue.run { [self] () throws(CacheError) in
      try flush(all: true)
      let name = try file.publish()
      return try entry(record, .file(name), written, checksums: body.snapshot.checksums)
    }
    return try await store.insert(made, into: parts)
  }

  private func entry(
    _ record: CacheRecord, _ body: NewEntry.Body, _ written: Int64, checksums: BlockChecksums
  ) throws(CacheError) -> NewEntry {
    var checksums = checksums
    var pieces: [StoredPiece] = []
    if !record.isComplete, case .file = body {
      pieces = StoredPieces(checksums: checksums.values[...], flushed: written).list
      checksums = BlockChecksums()
    }
    return try NewEntry(
      record: record, body: body, storedLength: written, checksums: checksums, pieces: pieces,
      variantLimit: variantLimit,
      predecessor: row.id.map { NewEntry.Predecessor(id: $0, isRequired: false) },
      reservation: phase)
  }

  /// Writes full blocks, or all there is, to the file; on a thread of the store's own.
  private func flush(all: Bool) throws(CacheError) {
    let open = try file.open(isWhole: all)
    let reader =
      body.snapshot.file ?? BlockReader(file: open, verification: store.verification)
    while true {
      let now = body.snapshot
      let rest = now.written - now.flushed
      guard rest >= BlockChecksums.blockLength || (all && rest > 0) else { return }
      let block = body.buffered(upTo: min(rest, BlockChecksums.blockLength))
      let checksum = try block.withUnsafeBytes { (buffer) throws(CacheError) -> UInt64 in
        try open.write(buffer, at: now.flushed)
        return XXH64.hash(buffer)
      }
      body.didFlush(Int64(block.count), checksums: [checksum], file: reader)
    }
  }

  /// Tells the row what came, now and then.
  private func checkpoint() async {
    let state = body.snapshot
    guard row.isDue(state.flushed), state.flushed <= record.bodyLength ?? .max,
      let name = await row.name(of: file)
    else { return }
    await row.save(
      StoredPieces(checksums: state.checksums.values[...], flushed: state.flushed).list, in: file,
      named: name, record: record.storing([0..<state.flushed], bodyLength: record.bodyLength))
    reserve()
  }

  private func reserve() { phase.reserve(max(0, body.written - row.savedBytes)) }
}
