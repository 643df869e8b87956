import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Seals a body, or parts of one, chunk by chunk, and gives the chunks to the writer of the store below.
final class SealedWriter: BodyWriter {
  /// The part of the body that arrives.
  enum Extent: Sendable {
    /// All of a body.
    case whole
    /// Some ranges, one after the other.
    case parts([Range<Int64>])
    /// The missing bytes of a stored part, from a position on.
    case rest(from: Int64)
  }

  // Bytes given to the store below at once.
  private static let batch = 4 * Int(SealedLayout.slot)

  private let record: CacheRecord
  private let bodyID: SealedRecord.BodyID
  private let extent: Extent
  private let base: (any BodyWriter)?
  private let store: SealedStore
  private let growth: SealedGrowth
  private let assembly: SealedAssembly

  /// - Parameters:
  ///   - record: the plain record; if bytes are added, with the ranges already stored.
  ///   - base: nil if no arriving byte can be stored.
  init(
    _ record: CacheRecord, bodyID: SealedRecord.BodyID, extent: Extent, base: (any BodyWriter)?,
    store: SealedStore
  ) {
    self.record = record
    self.bodyID = bodyID
    self.extent = extent
    self.base = base
    self.store = store
    var stored: [Range<Int64>] = []
    let targets: [Range<Int64>]
    switch extent {
    case .whole: targets = [0..<(record.bodyLength ?? .max)]
    case .parts(let ranges): targets = ranges.filter { !$0.isEmpty }
    case .rest(let start):
      stored = record.storedRanges ?? []
      targets = [start..<max(start, record.bodyLength ?? .max)]
    }
    growth = SealedGrowth(stored: stored, length: record.bodyLength)
    assembly = SealedAssembly(targets: targets, length: record.bodyLength, layout: store.layout)
  }

  deinit { abandon() }

  var bytesWritten: Int64 { growth.snapshot.written }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    guard !bytes.isEmpty else { return }
    let now = try check()
    if let limit = store.largestEntry, stored(after: Int64(bytes.count), now) > limit {
      let error = CacheError(.tooLarge, "more than \(limit) bytes", key: record.key)
      // Bytes that were added to a part stay, and count.
      if case .rest = extent, (try? await take(assembly.finish(isEnd: false), count: 0)) != nil {
        _ = try? await base?.keep()
      }
      throw fail(error)
    }
    do throws(CacheError) {
      var rest = bytes
      while !rest.isEmpty {
        // In pieces, so that the memory for sealed bytes is bounded.
        let piece = rest.prefix(Self.batch)
        rest = rest.dropFirst(Self.batch)
        try await take(try assembly.append(piece), count: Int64(piece.count))
      }
    } catch {
      throw fail(error)
    }
  }

  /// The number of plain body bytes after `count` more have arrived. The store below limits the sealed bytes,
  /// which are more.
  private func stored(after count: Int64, _ state: SealedGrowth.State) -> Int64 {
    let written = state.written.saturatingAdd(count)
    switch extent {
    case .whole: return written
    // Checked before the writer began.
    case .parts: return 0
    case .rest(let start):
      let first = (start + store.layout.chunk - 1) / store.layout.chunk * store.layout.chunk
      let added = first..<max(first, start.saturatingAdd(written))
      return StoredRanges.count(StoredRanges.union(state.sealed + [added]))
    }
  }

  @discardableResult
  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    let now = try check()
    do throws(CacheError) {
      var isWhole = false
      if case .whole = extent { isWhole = true }
      if isWhole, let announced = record.bodyLength, announced != now.written {
        throw CacheError(
          .damaged, "\(announced) bytes were announced, \(now.written) came", key: record.key)
      }
      try await take(assembly.finish(isEnd: isWhole), count: 0, isEnd: isWhole)
      guard let base, isWhole || !growth.snapshot.sealed.isEmpty else {
        guard now.written > 0 else { throw CacheError(.damaged, "nothing came", key: record.key) }
        // No whole chunk arrived: treat the part as stored and evicted at once.
        end()
        return record.with(sequence: 0)
      }
      return try await commit(to: base, trailers: trailers)
    } catch {
      throw fail(error)
    }
  }

  @discardableResult
  func keep() async throws(CacheError) -> CacheRecord? {
    let now = try check()
    do throws(CacheError) {
      var isExtension = false
      if case .rest = extent { isExtension = true }
      guard let base, now.written > 0, record.isResumable || isExtension else {
        abandon()
        return nil
      }
      try await take(assembly.finish(isEnd: false), count: 0)
      let state = growth.snapshot
      guard !state.sealed.isEmpty else {
        abandon()
        return nil
      }
      if let length = state.length, state.sealed == [0..<length] {
        return try await commit(to: base, trailers: record.response.trailers)
      }
      guard let kept = try await base.keep() else {
        end()
        return nil
      }
      end()
      return try SealedRecord.open(kept, cipher: store.cipher, names: store.names)?.record
    } catch {
      throw fail(error)
    }
  }

  func abandon() { _ = fail(CacheError(.closed, "the writer gave up", key: record.key)) }

  func reader() throws(CacheError) -> any BodyReader {
    // Damage of bytes that are being written is found at the next read.
    let chunks = try base.map { (base) throws(CacheError) in
      SealedChunks(try base.reader(), of: bodyID, cipher: store.cipher) { _ in }
    }
    return SealedReader(growth, chunks)
  }

  private func commit(
    to base: any BodyWriter, trailers: HTTPFields
  ) async throws(CacheError) -> CacheRecord {
    let completion = try SealedRecord.completion(
      trailers: trailers, length: growth.snapshot.length, bodyID: bodyID, store.cipher)
    let below = try await base.commit(trailers: completion)
    end()
    guard let stored = try SealedRecord.open(below, cipher: store.cipher, names: store.names) else {
      return record.with(sequence: below.sequence)
    }
    return stored.record
  }

  /// Seals chunks and gives them to the store below; readers can then read them.
  private func take(
    _ step: SealedAssembly.Step, count: Int64, isEnd: Bool = false
  ) async throws(CacheError) {
    if let base, !step.chunks.isEmpty { try await base.append(try seal(step.chunks)) }
    growth.change { state in
      state.sealed = StoredRanges.union(state.sealed + step.chunks.map { $0.place })
      state.fragments += step.fragments
      state.pending = step.pending
      state.pendingStart = step.pendingStart
      state.written += count
      // Set together with the last chunk, which only opens as the last one.
      if isEnd { state.length = state.written }
    }
  }

  private func seal(_ chunks: [SealedAssembly.Chunk]) throws(CacheError) -> BodyBytes {
    let overhead = store.layout.overhead
    let size = chunks.reduce(0) { $0 + $1.bytes.count + overhead }
    return try BodyBytes(unsafeUninitializedCapacity: size) { (output) throws(CacheError) -> Int in
      var start = 0
      for chunk in chunks {
        let end = start + chunk.bytes.count + overhead
        let slot = UnsafeMutableRawBufferPointer(rebasing: output[start..<end])
        let context = SealedRecord.context(
          chunk: chunk.start / store.layout.chunk, isLast: chunk.isLast, of: bodyID)
        try chunk.bytes.withUnsafeBufferPointer { (input) throws(CacheError) in
          try store.cipher.seal(
            UnsafeRawBufferPointer(input), for: .body, context: context, into: slot)
        }
        start = end
      }
      return size
    }
  }

  private func check() throws(CacheError) -> SealedGrowth.State {
    let state = growth.snapshot
    if let end = state.end { throw end }
    return state
  }

  private func end() {
    growth.change { state in
      if state.end == nil { state.end = CacheError(.closed, "committed already") }
    }
  }

  private func fail(_ error: CacheError) -> CacheError {
    let isFirst = growth.change { state in
      guard state.end == nil else { return false }
      state.end = error
      return true
    }
    if isFirst { base?.abandon() }
    return error
  }
}
