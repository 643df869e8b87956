import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Writes a part of a body: of one that is new, or of one of which parts are stored. In memory as long as
/// it is small, then piece by piece into a file, each byte where it lies in the body.
final class DiskPartWriter: BodyWriter {
  /// A stored part that is added to.
  struct Stored: Sendable {
    let id: Int64
    let name: BodyName
    let file: OpenFile
    let lock: BodyLock
    let pieces: StoredPieces
  }

  /// No byte of a body lies beyond this, so that places can be reckoned with.
  static let farthest: Int64 = 1 << 60

  private let store: DiskStore
  private let parts: StoreParts
  private let record: CacheRecord
  private let variantLimit: Int
  private let limit: Int64
  private let extended: Int64?
  private let body: GrowingParts
  private let file: BodyFile
  private let row: PartialRow
  private let phase: WriterPhase
  // Bytes that came for which there is room.
  private let roomed = Atomic<Int64>(0)

  /// A writer of a part, or of some parts one after the other (`CacheRecord.storedRanges`).
  init(
    store: DiskStore, parts: StoreParts, record: CacheRecord, variantLimit: Int, limit: Int64
  ) throws(CacheError) {
    let ranges = record.storedRanges ?? []
    guard ranges.count <= StoredRanges.most, ranges.last?.upperBound ?? 0 <= Self.farthest else {
      throw CacheError(.tooLarge, "the parts are too many or too far away", key: record.key)
    }
    guard StoredRanges.areParts(ranges, of: record.bodyLength) else {
      throw CacheError(.damaged, "these are no parts of the body", key: record.key)
    }
    self.store = store
    self.parts = parts
    self.record = record
    self.variantLimit = variantLimit
    self.limit = limit
    extended = nil
    body = GrowingParts(targets: ranges.filter { !$0.isEmpty })
    file = BodyFile(store: store, parts: parts)
    row = PartialRow(store: store, parts: parts)
    phase = WriterPhase(key: record.key, reservations: parts.reservations)
  }

  /// A writer that adds to a stored part.
  ///
  /// - Parameter record: with the length of the body if it is known.
  init(
    store: DiskStore, parts: StoreParts, record: CacheRecord, extending stored: Stored,
    at offset: Int64, limit: Int64
  ) {
    self.store = store
    self.parts = parts
    self.record = record
    self.limit = limit
    variantLimit = .max
    extended = stored.id
    let end = min(record.bodyLength ?? .max, Self.farthest)
    let start = max(0, min(offset, end))
    body = GrowingParts(
      pieces: stored.pieces,
      file: PieceReader(file: stored.file, verification: store.verification),
      targets: start < end ? [start..<end] : [])
    file = BodyFile(
      store: store, parts: parts, name: stored.name, file: stored.file, lock: stored.lock)
    row = PartialRow(store: store, parts: parts, id: stored.id)
    phase = WriterPhase(key: record.key, reservations: parts.reservations)
  }

  deinit { abandon() }

  var bytesWritten: Int64 { body.snapshot.written }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    guard !bytes.isEmpty else { return }
    try phase.check()
    do throws(CacheError) {
      let buffered = try body.append(bytes, limit: limit)
      reserve()
      guard buffered >= BlockChecksums.blockLength else { return }
      try await makeRoom()
      try await store.fileQueue.run { () throws(CacheError) in try self.flush(all: false) }
      if extended != nil || record.isResumable { await checkpoint() }
    } catch {
      let error = CacheError(error.code, error.message, cause: error.cause, key: record.key)
      // What stays of a part that was added to is told, so that it counts.
      if extended != nil, phase.isOpen { await checkpoint(isLast: true) }
      fail(error)
      throw error
    }
  }

  @discardableResult
  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    var response = record.response
    response.trailers = trailers
    return try await finish(record.with(response: response))
  }

  @discardableResult
  func keep() async throws(CacheError) -> CacheRecord? {
    try phase.check()
    guard body.snapshot.written > 0, extended != nil || record.isResumable else {
      abandon()
      return nil
    }
    return try await finish(record)
  }

  func abandon() {
    if phase.isOpen { fail(CacheError(.closed, "the writer gave up", key: record.key)) }
  }

  func reader() throws(CacheError) -> any BodyReader {
    let (id, onDamage) = (extended, store.bodyContext(parts).onDamage)
    return GrowingPartsReader(body: body, length: record.bodyLength, queue: store.fileQueue) {
      if let id { onDamage(id, $0) }
    }
  }

  private func fail(_ error: CacheError) {
    guard let reserved = phase.end(error) else { return }
    file.end(extended == nil ? .discarded : .stored, reserved: reserved)
    if let full = error.fullFileSystem { store.didRunOutOfSpace(full) }
  }

  private func finish(_ record: CacheRecord) async throws(CacheError) -> CacheRecord {
    try phase.beginFinish()
    do throws(CacheError) {
      let stored = try await store(record)
      let reserved = phase.end(CacheError(.closed, "committed already", key: record.key))
      file.end(.stored, reserved: reserved ?? 0)
      return stored
    } catch {
      fail(error)
      throw error
    }
  }

  /// Makes room for what came, before it is written.
  private func makeRoom() async throws(CacheError) {
    let state = body.snapshot
    let rest = state.added - roomed.load(ordering: .relaxed)
    guard rest > 0 else { return }
    // What will be stored, as far as that is known.
    let coming = state.count.saturatingAdd(StoredRanges.count(Array(state.targets)))
    try await store.makeSpace(
      for: record, bytes: rest, length: min(record.bodyLength ?? state.count, coming),
      sparing: row.id, in: parts)
    roomed.store(state.added, ordering: .relaxed)
  }

  private func store(_ record: CacheRecord) async throws(CacheError) -> CacheRecord {
    let state = body.snapshot
    guard extended != nil || state.written > 0 else {
      throw CacheError(.damaged, "nothing came", key: record.key)
    }
    let wanted = record.holding(state.ranges, bodyLength: record.bodyLength)
    if state.file == nil, state.count <= NewEntry.inlineLimit {
      let bytes = BodyBytes(joining: state.ranges.map { joined($0, of: state) })
      return try await insert(wanted, .inline(bytes), count: state.count, checksums: hash(bytes))
    }
    try await makeRoom()
    let name = try await store.fileQueue.run { () throws(CacheError) -> BodyName in
      try self.flush(all: true)
      return try self.file.publish()
    }
    if wanted.isComplete { return try await insertWhole(wanted, name, length: state.count) }
    let flushed = body.snapshot
    guard let extended else {
      return try await insert(
        wanted, .file(name), count: state.count, pieces: flushed.pieces.list)
    }
    let growth = PartialGrowth(
      id: extended, file: name, pieces: row.unsaved(flushed.flushed), record: wanted,
      reservation: phase)
    guard let stored = try await store.grow(growth, in: parts) else {
      throw CacheError(.unavailable, "the part is not stored any more", key: record.key)
    }
    return stored
  }

  /// Makes it a whole body like any other, with checksums of whole blocks.
  private func insertWhole(
    _ record: CacheRecord, _ name: BodyName, length: Int64
  ) async throws(CacheError) -> CacheRecord {
    let state = body.snapshot
    guard let source = state.file else { throw CacheError(.io, "no file was made") }
    do throws(CacheError) {
      if length <= NewEntry.inlineLimit {
        let bytes = try await source.read(0..<length, state.pieces, on: store.fileQueue)
        return try await insert(record, .inline(bytes), count: length, checksums: hash(bytes))
      }
      let checksums = try await store.fileQueue.run { () throws(CacheError) in
        try source.blockChecksums(state.pieces, length: length)
      }
      return try await insert(record, .file(name), count: length, checksums: checksums)
    } catch {
      if error.code == .damaged, let extended {
        store.bodyContext(parts).onDamage(extended, error)
      }
      throw error
    }
  }

  private func insert(
    _ record: CacheRecord, _ body: NewEntry.Body, count: Int64,
    checksums: BlockChecksums = BlockChecksums(), pieces: [StoredPiece] = []
  ) async throws(CacheError) -> CacheRecord {
    let id = extended ?? row.id
    let entry = try NewEntry(
      record: record, body: body, storedLength: count, checksums: checksums, pieces: pieces,
      variantLimit: variantLimit,
      predecessor: id.map { NewEntry.Predecessor(id: $0, isRequired: extended != nil) },
      reservation: phase)
    return try await store.insert(entry, into: parts)
  }

  private func joined(_ range: Range<Int64>, of state: GrowingParts.State) -> BodyBytes {
    var bytes: [BodyBytes] = []
    var position = range.lowerBound
    while position < range.upperBound {
      let next = state.pendingBytes(position..<range.upperBound)
      guard !next.isEmpty else { break }
      bytes.append(next)
      position += Int64(next.count)
    }
    return BodyBytes(joining: bytes)
  }

  private func hash(_ bytes: BodyBytes) -> BlockChecksums {
    BlockChecksums(values: [bytes.withUnsafeBytes { XXH64.hash($0) }])
  }

  /// Writes pieces that no longer grow, or all there is, to the file; on a thread of the store's own.
  private func flush(all: Bool) throws(CacheError) {
    let file = try file.open()
    let reader = body.snapshot.file ?? PieceReader(file: file, verification: store.verification)
    while let next = body.nextPiece(all: all) {
      let checksum = try next.bytes.withUnsafeBytes { (buffer) throws(CacheError) -> UInt64 in
        try file.write(buffer, at: next.start)
        return XXH64.hash(buffer)
      }
      body.didFlush(
        StoredPiece(start: next.start, end: next.end, checksum: checksum), file: reader)
    }
  }

  /// Tells the row what came, now and then.
  private func checkpoint(isLast: Bool = false) async {
    let state = body.snapshot
    guard isLast || row.isDue(state.flushedBytes), let name = await row.name(of: file) else { return }
    await row.save(
      state.flushed, in: file, named: name,
      record: record.storing(state.pieces.ranges, bodyLength: record.bodyLength))
    reserve()
  }

  private func reserve() { phase.reserve(max(0, body.snapshot.added - row.savedBytes)) }
}
