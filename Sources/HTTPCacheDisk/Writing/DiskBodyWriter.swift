import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Writes a body, or parts of a body of which some may be stored already. A small body stays in memory. A
/// larger body is written block by block into a file, each byte at its place in the body. The file gets its
/// row when all bytes are written. The file of a resumable body gets the row of a partial body after its first block.
final class DiskBodyWriter: CloningBodyWriter {
  struct Progress {
    /// The row of the partial body; nil if there is none.
    var row: Int64?
    /// Whether the row was removed, or cannot be written. It is not written again.
    var isRowLost = false
    /// The number of appended bytes that the row counts, and their end.
    var saved: Int64 = 0
    var savedEnd: Int64 = 0
    /// The number of bytes at which the next update of the row is due.
    var due = StoredPieces.blockLength
    /// Appended bytes for which space was made.
    var spaced: Int64 = 0
    /// Whether the file has all bytes already.
    var isCloned = false
  }

  let store: DiskStore
  let opened: OpenDirectory
  let record: CacheRecord
  let limits: (variants: Int, bytes: Int64)
  /// The row of the stored partial body to which bytes are added; nil if there is none.
  let extended: Int64?
  let body: DiskBody
  let file: BodyFile
  let progress: Mutex<Progress>

  /// - Parameters:
  ///   - record: the record of a whole body, of parts that arrive one after the other
  ///     (`CacheRecord.storedRanges`), or of the stored partial body, with the length of the body if it is known.
  ///   - limits: the most variants of the key, and the most bytes to store.
  ///   - adding: a stored partial body, and the position at which bytes are added to it.
  init(
    store: DiskStore, opened: OpenDirectory, record: CacheRecord, limits: (variants: Int, bytes: Int64),
    adding: (part: GrowingPart, offset: Int64)? = nil
  ) throws(CacheError) {
    self.store = store
    self.opened = opened
    self.record = record
    self.limits = limits
    extended = adding?.part.id
    let offset = max(0, adding?.offset ?? 0)
    progress = Mutex(Progress(row: extended, savedEnd: offset))
    file = BodyFile(of: record.key, store: store, opened: opened, stored: adding?.part)
    let end = min(record.bodyLength ?? .max, StoredPieces.farthest)
    body = DiskBody(
      stored: adding.map { ($0.part.file, $0.part.pieces) },
      targets: adding == nil ? try Self.targets(of: record) : [min(offset, end)..<end],
      length: record.bodyLength, checksEveryRead: store.options.verification == .everyRead)
  }

  deinit { abandon() }

  private static func targets(of record: CacheRecord) throws(CacheError) -> [Range<Int64>] {
    guard let ranges = record.storedRanges else { return [0..<StoredPieces.farthest] }
    guard ranges.count <= StoredRanges.most, ranges.last?.upperBound ?? 0 <= StoredPieces.farthest else {
      throw CacheError(.tooLarge, "the parts are too many or too far away", key: record.key)
    }
    try record.requireParts()
    return ranges.filter { !$0.isEmpty }
  }

  var bytesWritten: Int64 { body.snapshot.written }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    guard !bytes.isEmpty else { return }
    try check()
    do throws(CacheError) {
      let buffered = try body.append(bytes, limit: limits.bytes)
      reserve()
      guard buffered >= StoredPieces.blockLength else { return }
      try await makeSpace()
      try await store.reader.fileQueue.run { () throws(CacheError) in try self.flush(all: false) }
      await saveRow()
    } catch {
      // Count the bytes that stay in a stored partial body.
      if extended != nil, file.isOpen { await saveRow(isLast: true) }
      throw fail(CacheError(error.code, error.message, cause: error.cause, key: record.key))
    }
  }

  /// Throws the reason if the writer accepts no more bytes. What any process has wiped is not written on.
  private func check() throws(CacheError) {
    try file.check()
    if let ticket = record.ticket, opened.changes.isWiped(record.key, since: ticket) {
      throw fail(.wiped(record.key))
    }
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
    try file.check()
    guard extended != nil || record.isResumable, body.snapshot.written > 0 else {
      abandon()
      return nil
    }
    return try await finish(record, isWhole: false)
  }

  func abandon() {
    // Let a commit that has begun finish.
    if file.isOpen { _ = fail(CacheError(.closed, "the writer gave up", key: record.key)) }
  }

  func reader() throws(CacheError) -> any BodyReader {
    DiskBodyReader(body: body, queue: store.reader.fileQueue, onDamage: onDamage)
  }

  /// Reports the entry of the stored partial body as damaged, if there is one.
  var onDamage: @Sendable (CacheError) -> Void {
    let onDamage = store.reader.context(opened).onDamage
    // A reader may outlive the writer, and must not keep it.
    return { [weak self, extended] error in if let id = extended ?? self?.row { onDamage(id, error) } }
  }

  /// Ends the writer after an error. The written bytes are deleted, unless they were added to a stored partial body.
  func fail(_ error: CacheError) -> CacheError {
    if file.end(error, extended != nil ? .kept : .discarded), let full = error.fullFileSystem {
      store.trimmer.didRunOutOfSpace(full)
    }
    return error
  }

  private func finish(
    _ record: CacheRecord, isWhole: Bool
  ) async throws(CacheError) -> CacheRecord {
    try file.check(isLast: true)
    do throws(CacheError) {
      let stored = try await insert(arrived(record, isWhole: isWhole))
      if stored.isComplete { body.complete() }
      file.end(CacheError(.closed, "committed already", key: record.key), .stored)
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

  /// Writes the rest of the bytes, and inserts the row.
  private func insert(_ record: CacheRecord) async throws(CacheError) -> CacheRecord {
    let state = body.snapshot
    if record.isComplete, file.name == nil, state.count <= NewEntry.inlineLimit {
      let bytes = state.pendingBytes(0..<state.count)
      return try await store.inserter.insert(entry(of: record, body: .inline(bytes)), in: opened)
    }
    do throws(CacheError) { try await makeSpace() } catch {
      guard error.code == .notAdmitted, file.name == nil else { throw error }
      // Nothing was written, and nothing will be.
      let refused = try entry(of: record, body: .inline(BodyBytes()), for: .refused)
      return try await store.inserter.insert(refused, in: opened)
    }
    let name = try await store.reader.fileQueue.run { () throws(CacheError) in
      try self.flush(all: true)
      return try self.file.prepareForRow()
    }
    let whole = try entry(of: record, body: .file(name, body.snapshot.pieces))
    return try await store.inserter.insert(whole, in: opened)
  }

  private func entry(
    of record: CacheRecord, body: NewEntry.Body, for purpose: NewEntry.Purpose = .finished
  ) throws(CacheError) -> NewEntry {
    try NewEntry(
      record: record, body: body, variantLimit: limits.variants,
      predecessor: row.map { (id: $0, isRequired: extended != nil) }, purpose: purpose, bodyFile: file)
  }

  /// Makes space for the appended bytes before they are written.
  private func makeSpace() async throws(CacheError) {
    let state = body.snapshot
    let rest = state.added - progress.withLock { $0.spaced }
    guard rest > 0 else { return }
    // The number of bytes that will be stored, as far as it is known.
    let coming = state.count.saturatingAdd(StoredRanges.count(state.targets))
    try await store.evictor.makeSpace(
      for: record, bytes: rest, length: record.bodyLength.map { min($0, coming) } ?? state.count,
      sparing: row, in: opened)
    progress.withLock { $0.spaced = state.added }
  }

  // MARK: The file

  func appendClone(
    of descriptor: Int32, length: Int64, see: (BodyBytes) -> Void
  ) async throws(CacheError) -> Bool {
    guard length > NewEntry.inlineLimit, length <= limits.bytes, bytesWritten == 0, record.isComplete else {
      return false
    }
    try check()
    let clone: CacheFile?
    do throws(CacheError) {
      clone = try await store.reader.fileQueue.run { () throws(CacheError) -> CacheFile? in
        let file = try self.file.open()
        guard file.shareBlocks(of: descriptor) else { return nil }
        if try file.size() != length { throw CacheError(.io, "the file changed while it was stored") }
        return file
      }
    } catch { throw fail(error) }
    guard let clone else { return false }
    progress.withLock { $0.isCloned = true }
    var position: Int64 = 0
    while position < length {
      let count = Int(min(StoredPieces.blockLength, length - position))
      let bytes: BodyBytes
      do throws(CacheError) {
        bytes = try await store.reader.fileQueue.run { [position] () throws(CacheError) in
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

  /// Writes blocks that no longer grow, or all pending bytes, to the file; on a thread of the store.
  func flush(all: Bool) throws(CacheError) {
    let open = try file.open()
    let reader = body.reader(of: open, checksEveryRead: store.options.verification == .everyRead)
    let isCloned = progress.withLock { $0.isCloned }
    while let next = body.nextPiece(all: all) {
      let piece = try joined(next, in: reader)
      if !isCloned {
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
    let (before, after) = body.snapshot.pieces.neighbors(of: next.range)
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
}
