import CSystemShims
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Writes a body, or parts of a body of which some may be stored already. A small body stays in memory. A
/// larger body is written block by block into a file, each byte at its place in the body. The file gets its
/// row when all bytes are written. The file of a resumable body gets the row of a partial body after its first block.
final class DiskBodyWriter: CloningBodyWriter {
  /// A stored partial body to which bytes are added.
  struct Stored: Sendable {
    let id: Int64
    let name: BodyName
    let file: OpenFile
    let lock: BodyLock
    let pieces: StoredPieces
  }

  private let store: DiskStore
  private let opened: OpenDirectory
  private let record: CacheRecord
  private let limits: (variants: Int, bytes: Int64)
  // The row of the partial body to which bytes are added.
  private let extended: Int64?
  private let body: DiskBody
  private let file: BodyFile
  private let row: PartialRow
  private let phase: WriterPhase
  // Appended bytes for which space was made.
  private let spaced = Atomic<Int64>(0)
  // Whether the file has all bytes already.
  private let isCloned = Atomic<Bool>(false)

  /// - Parameters:
  ///   - record: the record of a whole body, of parts that arrive one after the other
  ///     (`CacheRecord.storedRanges`), or of the stored partial body, with the length of the body if it is known.
  ///   - limits: the most variants of the key, and the most bytes to store.
  ///   - adding: a stored partial body, and the position at which bytes are added to it.
  init(
    store: DiskStore, opened: OpenDirectory, record: CacheRecord, limits: (variants: Int, bytes: Int64),
    adding: (stored: Stored, offset: Int64)? = nil
  ) throws(CacheError) {
    self.store = store
    self.opened = opened
    self.record = record
    self.limits = limits
    extended = adding?.stored.id
    phase = WriterPhase(key: record.key, reservations: opened.reservations)
    row = PartialRow(store: store, opened: opened, id: extended, end: max(0, adding?.offset ?? 0))
    guard let (stored, offset) = adding else {
      file = BodyFile(store: store, opened: opened)
      body = DiskBody(
        targets: try Self.targets(of: record), length: record.bodyLength,
        verification: store.options.verification)
      return
    }
    file = BodyFile(store: store, opened: opened, name: stored.name, file: stored.file, lock: stored.lock)
    let end = min(record.bodyLength ?? .max, StoredPieces.farthest)
    let start = max(0, min(offset, end))
    body = DiskBody(
      stored: (stored.file, stored.pieces), targets: start < end ? [start..<end] : [],
      length: record.bodyLength, verification: store.options.verification)
  }

  deinit { abandon() }

  private static func targets(of record: CacheRecord) throws(CacheError) -> [Range<Int64>] {
    guard let ranges = record.storedRanges else { return [0..<StoredPieces.farthest] }
    guard ranges.count <= StoredRanges.most, ranges.last?.upperBound ?? 0 <= StoredPieces.farthest else {
      throw CacheError(.tooLarge, "the parts are too many or too far away", key: record.key)
    }
    guard StoredRanges.areParts(ranges, of: record.bodyLength) else {
      throw CacheError(.damaged, "these are no parts of the body", key: record.key)
    }
    return ranges.filter { !$0.isEmpty }
  }

  var bytesWritten: Int64 { body.snapshot.written }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    guard !bytes.isEmpty else { return }
    try phase.check()
    do throws(CacheError) {
      let buffered = try body.append(bytes, limit: limits.bytes)
      reserve()
      guard buffered >= StoredPieces.blockLength else { return }
      try await makeSpace()
      try await store.fileQueue.run { () throws(CacheError) in try self.flush(all: false) }
      await checkpoint()
    } catch {
      // Count the bytes that stay in a stored partial body.
      if extended != nil, phase.isOpen { await checkpoint(isLast: true) }
      throw fail(CacheError(error.code, error.message, cause: error.cause, key: record.key))
    }
  }

  func appendClone(
    of descriptor: Int32, length: Int64, see: (BodyBytes) -> Void
  ) async throws(CacheError) -> Bool {
    guard length > NewEntry.inlineLimit, length <= limits.bytes, bytesWritten == 0, record.isComplete else {
      return false
    }
    try phase.check()
    let clone: OpenFile?
    do throws(CacheError) {
      clone = try await store.fileQueue.run { () throws(CacheError) -> OpenFile? in
        let file = try self.file.open()
        guard shim_clone_descriptor(file.descriptor, descriptor) == 0 else { return nil }
        if try file.size() != length { throw CacheError(.io, "the file changed while it was stored") }
        return file
      }
    } catch { throw fail(error) }
    guard let clone else { return false }
    isCloned.store(true, ordering: .relaxed)
    var position: Int64 = 0
    while position < length {
      let count = Int(min(StoredPieces.blockLength, length - position))
      let bytes: BodyBytes
      do throws(CacheError) {
        bytes = try await store.fileQueue.run { [position] () throws(CacheError) in
          try BodyBytes(unsafeUninitializedCapacity: count) { (buffer) throws(CacheError) in
            try clone.read(into: buffer, at: position)
          }
        }
      } catch { throw fail(error) }
      see(bytes)
      try await append(bytes)
      position += Int64(bytes.count)
      if bytes.isEmpty { break }
    }
    return true
  }

  @discardableResult
  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    var response = record.response
    response.trailers = trailers
    return try await finish(
      record.with(response: response), isWhole: extended == nil && record.storedRanges == nil)
  }

  @discardableResult
  func keep() async throws(CacheError) -> CacheRecord? {
    try phase.check()
    guard extended != nil || record.isResumable, body.snapshot.written > 0 else {
      abandon()
      return nil
    }
    return try await finish(record, isWhole: false)
  }

  func abandon() {
    if phase.isOpen { _ = fail(CacheError(.closed, "the writer gave up", key: record.key)) }
  }

  func reader() throws(CacheError) -> any BodyReader {
    DiskBodyReader(body: body, queue: store.fileQueue, onDamage: onDamage)
  }

  /// Reports the entry of the stored partial body as damaged, if there is one.
  private var onDamage: @Sendable (CacheError) -> Void {
    let (extended, row, onDamage) = (extended, row, store.bodyContext(opened).onDamage)
    return { error in if let id = extended ?? row.id { onDamage(id, error) } }
  }

  /// Ends the writer after an error. The written bytes are deleted, unless they were added to a stored partial body.
  private func fail(_ error: CacheError) -> CacheError {
    if let reserved = phase.end(error) {
      file.end(extended != nil ? .kept : .discarded, reserved: reserved)
      if let full = error.fullFileSystem { store.didRunOutOfSpace(full) }
    }
    return error
  }

  private func finish(
    _ record: CacheRecord, isWhole: Bool
  ) async throws(CacheError) -> CacheRecord {
    try phase.beginFinish()
    do throws(CacheError) {
      let stored = try await store(arrived(record, isWhole: isWhole))
      if stored.isComplete { body.complete() }
      let reserved = phase.end(CacheError(.closed, "committed already", key: record.key))
      file.end(.stored, reserved: reserved ?? 0)
      return stored
    } catch { throw fail(error) }
  }

  /// The record for the bytes that arrived.
  private func arrived(_ record: CacheRecord, isWhole: Bool) throws(CacheError) -> CacheRecord {
    let state = body.snapshot
    if isWhole, record.bodyLength ?? state.written == state.written {
      return record.storing(nil, bodyLength: state.written)
    }
    guard !isWhole, extended != nil || state.written > 0,
      state.ranges.last?.upperBound ?? 0 <= record.bodyLength ?? .max
    else {
      throw CacheError(
        .damaged, "\(record.bodyLength ?? 0) bytes were announced, \(state.written) came", key: record.key)
    }
    return record.holding(state.ranges, bodyLength: record.bodyLength)
  }

  private func store(_ record: CacheRecord) async throws(CacheError) -> CacheRecord {
    let state = body.snapshot
    if record.isComplete, file.name == nil, state.count <= NewEntry.inlineLimit {
      let bytes = state.pendingBytes(0..<state.count)
      return try await store.insert(entry(record, .inline(bytes)), into: opened)
    }
    do throws(CacheError) { try await makeSpace() } catch {
      guard error.code == .notAdmitted, file.name == nil else { throw error }
      // Nothing was written, and nothing will be.
      let refused = try entry(record, .inline(BodyBytes()), .refused)
      return try await store.insert(refused, into: opened)
    }
    let name = try await store.fileQueue.run { () throws(CacheError) in
      try self.flush(all: true)
      return try self.file.prepareForRow()
    }
    return try await store.insert(entry(record, .file(name, body.snapshot.pieces)), into: opened)
  }

  private func entry(
    _ record: CacheRecord, _ body: NewEntry.Body, _ purpose: NewEntry.Purpose = .finished
  ) throws(CacheError) -> NewEntry {
    try NewEntry(
      record: record, body: body, variantLimit: limits.variants,
      predecessor: (extended ?? row.id).map {
        NewEntry.Predecessor(id: $0, isRequired: extended != nil)
      }, purpose: purpose, reservation: phase)
  }

  /// Makes space for the appended bytes before they are written.
  private func makeSpace() async throws(CacheError) {
    let state = body.snapshot
    let rest = state.added - spaced.load(ordering: .relaxed)
    guard rest > 0 else { return }
    // The number of bytes that will be stored, as far as it is known.
    let coming = state.count.saturatingAdd(StoredRanges.count(state.targets))
    try await store.makeSpace(
      for: record, bytes: rest, length: record.bodyLength.map { min($0, coming) } ?? state.count,
      sparing: row.id, in: opened)
    spaced.store(state.added, ordering: .relaxed)
  }

  /// Writes blocks that no longer grow, or all pending bytes, to the file; on a thread of the store.
  private func flush(all: Bool) throws(CacheError) {
    let open = try file.open()
    let reader = body.reader(of: open, store.options.verification)
    while let next = body.nextPiece(all: all) {
      let piece = try joined(next, in: reader)
      if !isCloned.load(ordering: .relaxed) {
        try next.bytes.withUnsafeBytes { (buffer) throws(CacheError) in
          try open.write(buffer, at: next.start)
        }
      }
      body.didFlush(next, as: piece)
    }
  }

  /// The piece of new bytes and the stored pieces that they touch in their block. Those are read and checked.
  private func joined(
    _ next: DiskBody.Pending, in reader: BlockReader
  ) throws(CacheError) -> StoredPiece {
    let pieces = body.snapshot.pieces
    let (before, after) = pieces.neighbors(of: next.range)
    func bytes(of piece: StoredPiece?) throws(CacheError) -> BodyBytes {
      guard let piece else { return BodyBytes() }
      return try reader.read(piece.range, onlyCached: false) ?? BodyBytes()
    }
    do throws(CacheError) {
      let pieceBytes = [try bytes(of: before), next.bytes, try bytes(of: after)]
      let joined = BodyBytes(joining: pieceBytes.filter { !$0.isEmpty })
      return StoredPiece(
        start: before?.start ?? next.start, end: after?.end ?? next.end,
        checksum: joined.withUnsafeBytes { XXH64.hash($0) })
    } catch {
      if error.code == .damaged { onDamage(error) }
      throw error
    }
  }

  /// Updates the row with the bytes in the file, if an update is due.
  private func checkpoint(isLast: Bool = false) async {
    let state = body.snapshot
    guard extended != nil || record.isResumable, state.flushed > row.savedBytes,
      isLast || row.isDue(state.flushed), state.pieces.end <= record.bodyLength ?? .max
    else { return }
    await row.save(state, in: file, record: record, reservation: phase)
    reserve()
  }

  private func reserve() { phase.reserve(max(0, body.snapshot.added - row.savedBytes)) }
}
