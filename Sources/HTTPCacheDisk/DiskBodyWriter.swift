import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// Writes one body: in memory as long as it is small, then block by block into a file under a temporary
/// name, which gets its final name when it is complete, and its row after that.
final class DiskBodyWriter: BodyWriter {
  private enum Phase {
    case open
    case committing
    case ended(CacheError)
  }

  private struct State {
    var phase = Phase.open
    var name: BodyName?
    var file: BlockReader?
    var reserved: Int64 = 0
  }

  private let store: DiskStore
  private let parts: StoreParts
  private let record: CacheRecord
  private let variantLimit: Int
  private let limit: Int64
  private let body = GrowingBody()
  private let state = Mutex(State())

  init(
    store: DiskStore, parts: StoreParts, record: CacheRecord, variantLimit: Int, limit: Int64
  ) {
    self.store = store
    self.parts = parts
    self.record = record
    self.variantLimit = variantLimit
    self.limit = limit
  }

  deinit { abandon() }

  var bytesWritten: Int64 { body.written }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    guard !bytes.isEmpty else { return }
    try checkOpen()
    guard body.written + Int64(bytes.count) <= limit else {
      throw fail(
        CacheError(.tooLarge, "more than \(limit) bytes", key: record.key))
    }
    store.reserve(Int64(bytes.count))
    state.withLock { $0.reserved += Int64(bytes.count) }
    let buffered = body.append(bytes)
    guard buffered >= BlockChecksums.blockLength else { return }
    do throws(CacheError) {
      try await store.fileQueue.run { () throws(CacheError) in try self.flush(all: false) }
    } catch {
      throw fail(error)
    }
  }

  @discardableResult
  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    let before = state.withLock { state in
      let before = state.phase
      if case .open = before { state.phase = .committing }
      return before
    }
    switch before {
    case .open: break
    case .committing: throw CacheError(.closed, "committed already", key: record.key)
    case .ended(let error): throw error
    }
    do throws(CacheError) {
      let stored = try await store(completeRecord(trailers: trailers))
      body.complete()
      end(CacheError(.closed, "committed already", key: record.key), keeping: true)
      return stored
    } catch {
      end(error, keeping: false)
      throw error
    }
  }

  func abandon() {
    let wasOpen = state.withLock { state in
      if case .open = state.phase { return true }
      return false
    }
    if wasOpen {
      _ = fail(CacheError(.closed, "the writer gave up", key: record.key))
    }
  }

  func reader() throws(CacheError) -> any BodyReader {
    GrowingBodyReader(body: body, record: record, queue: store.fileQueue)
  }

  private func checkOpen() throws(CacheError) {
    switch state.withLock({ $0.phase }) {
    case .open: return
    case .committing: throw CacheError(.closed, "committed already", key: record.key)
    case .ended(let error): throw error
    }
  }

  private func completeRecord(trailers: HTTPFields) throws(CacheError) -> CacheRecord {
    let written = body.written
    var response = record.response
    response.trailers = trailers
    if let ranges = record.storedRanges {
      let extent = StoredExtent(
        bodyLength: record.bodyLength, storedRanges: ranges, storedLength: written)
      guard extent.isConsistent else {
        throw CacheError(
          .damaged, "\(written) bytes came, which do not make up the ranges", key: record.key)
      }
      return record.with(response: response)
    }
    if let announced = record.bodyLength, announced != written {
      throw CacheError(
        .damaged, "\(announced) bytes were announced, \(written) came", key: record.key)
    }
    return record.with(response: response, bodyLength: written)
  }

  private func store(_ record: CacheRecord) async throws(CacheError) -> CacheRecord {
    let written = body.written
    let limit = variantLimit
    let entry: NewEntry
    if written <= NewEntry.inlineLimit, state.withLock({ $0.file }) == nil {
      let bytes = body.buffered(upTo: written)
      let checksum = bytes.withUnsafeBytes { XXH64.hash($0) }
      entry = try NewEntry(
        record: record, body: .inline(bytes), storedLength: written,
        checksums: BlockChecksums(values: [checksum]), variantLimit: limit)
    } else {
      let (parts, durable) = (parts, store.durability == .durable)
      let name = try await store.fileQueue.run { () throws(CacheError) -> BodyName in
        try self.flush(all: true)
        let (name, file) = self.state.withLock { ($0.name, $0.file) }
        guard let name, let file else { throw CacheError(.io, "no file was made") }
        if durable { try file.file.sync() }
        try parts.directory.publishBody(name, durably: durable)
        return name
      }
      entry = try NewEntry(
        record: record, body: .file(name), storedLength: written,
        checksums: body.snapshot.checksums, variantLimit: limit)
    }
    return try await store.insert(entry, into: parts)
  }

  /// Writes full blocks, or all there is, to the file; on a thread of the store's own.
  private func flush(all: Bool) throws(CacheError) {
    let file = try openFile()
    while true {
      let now = body.snapshot
      let rest = now.written - now.flushed
      guard rest >= BlockChecksums.blockLength || (all && rest > 0) else { return }
      let block = body.buffered(upTo: min(rest, BlockChecksums.blockLength))
      let checksum = try block.withUnsafeBytes { (buffer) throws(CacheError) -> UInt64 in
        try file.file.write(buffer, at: now.flushed)
        return XXH64.hash(buffer)
      }
      body.didFlush(Int64(block.count), checksums: [checksum], file: file)
    }
  }

  private func openFile() throws(CacheError) -> BlockReader {
    if let file = state.withLock({ $0.file }) { return file }
    let name = try parts.startBody()
    let file: BlockReader
    do throws(CacheError) {
      file = BlockReader(
        file: try parts.directory.createBody(name), verification: store.verification)
    } catch {
      parts.finished(name)
      throw error
    }
    let isWanted = state.withLock { state in
      if case .ended = state.phase { return false }
      state.name = name
      state.file = file
      return true
    }
    guard isWanted else {
      parts.directory.removeBody(name, isTemporary: true)
      parts.finished(name)
      throw CacheError(.closed, "the writer gave up", key: record.key)
    }
    return file
  }

  private func fail(_ error: CacheError) -> CacheError {
    end(error, keeping: false)
    return error
  }

  /// Ends once; what was written goes unless it got its row.
  private func end(_ error: CacheError, keeping: Bool) {
    let (wasEnded, name, reserved) = state.withLock { state -> (Bool, BodyName?, Int64) in
      if case .ended = state.phase { return (true, nil, 0) }
      state.phase = .ended(error)
      defer { state.reserved = 0 }
      return (false, state.name, state.reserved)
    }
    guard !wasEnded else { return }
    store.reserve(-reserved)
    guard let name else { return }
    if keeping { return parts.finished(name) }
    let parts = parts
    store.fileQueue.submit {
      parts.directory.removeBody(name, isTemporary: true)
      parts.directory.removeBody(name)
      parts.finished(name)
    }
  }
}
