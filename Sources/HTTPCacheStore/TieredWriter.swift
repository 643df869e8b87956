import HTTPCacheSemantics
import HTTPTypes
import Synchronization

/// Writes a body to the store below, and keeps a copy as long as it is small.
final class TieredWriter: BodyWriter {
  private struct State {
    // Where it goes below; nil if it stays in memory.
    var base: (any BodyWriter)?
    // The copy; nil once it has grown too long.
    var copy: GrowingBody?
    var copied: Int64 = 0
    var written: Int64 = 0
    // Why it takes no more.
    var end: CacheError?
  }

  private let record: CacheRecord
  private let variantLimit: Int
  private let tier: TieredStore
  private let state: Mutex<State>

  /// - Parameter base: the writer of the store below; nil keeps the response in memory alone.
  /// - Throws: `CacheError.tooLarge` if memory alone has to keep it and cannot.
  init(
    _ record: CacheRecord, variantLimit: Int, base: (any BodyWriter)?, tier: TieredStore
  ) throws(CacheError) {
    self.record = record
    self.variantLimit = variantLimit
    self.tier = tier
    let limit = base == nil ? tier.memory.largestEntry : tier.longestCopy
    let isSmall = record.isComplete && record.bodyLength ?? 0 <= limit
    if base == nil, !isSmall {
      throw CacheError(.tooLarge, "more than \(limit) bytes in memory", key: record.key)
    }
    state = Mutex(
      State(base: base, copy: isSmall ? GrowingBody(announced: record.bodyLength) : nil))
  }

  deinit { abandon() }

  var bytesWritten: Int64 { state.withLock { $0.written } }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    // The copy comes second: what could not be stored must not be read.
    if let base = try begin() {
      do {
        try await base.append(bytes)
        _ = copy(bytes, isOnly: false)
      } catch {
        try goOnWithout(base, after: error, in: "append") { copy(bytes, isOnly: true) }
      }
    } else if !copy(bytes, isOnly: true) {
      let error = CacheError(
        .tooLarge, "more than \(tier.memory.largestEntry) bytes in memory", key: record.key)
      end(error)
      throw error
    }
    state.withLock { $0.written += Int64(bytes.count) }
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    let base = try begin()
    let done = CacheError(.closed, "the writer was committed", key: record.key)
    if let base {
      do throws(CacheError) { try tier.requireNotSuperseded(record) } catch {
        end(error)
        throw error
      }
      do {
        let stored = try await base.commit(trailers: trailers)
        let copy = state.withLock { $0.copy }
        tier.didCommit(stored, body: copy?.finish())
        end(done)
        return stored
      } catch {
        try goOnWithout(base, after: error, in: "commit") { state.withLock { $0.copy != nil } }
      }
    }
    defer { end(done) }
    guard let bytes = state.withLock({ $0.copy })?.finish() else {
      throw CacheError(.io, "nothing was kept in memory", key: record.key)
    }
    return try await tier.commitToMemory(
      record, trailers: trailers, body: bytes, variantLimit: variantLimit)
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    let base = try begin()
    defer { end(CacheError(.closed, "the writer kept what came", key: record.key)) }
    if let base {
      guard let stored = try await base.keep() else { return nil }
      tier.didCommit(stored, body: nil)
      return stored
    }
    // What memory keeps since the store below failed is whole or nothing.
    guard record.isMemoryOnly, record.isResumable,
      let bytes = state.withLock({ $0.copy })?.finish(), !bytes.isEmpty
    else { return nil }
    let kept = record.holding([0..<Int64(bytes.count)], bodyLength: record.bodyLength)
    return try tier.memory.commit(kept, body: bytes, variantLimit: variantLimit)
  }

  func abandon() { end(CacheError(.closed, "the writer was abandoned", key: record.key)) }

  func reader() throws(CacheError) -> any BodyReader {
    let (base, copy) = state.withLock { ($0.base, $0.copy) }
    let below = try base?.reader()
    if let copy { return TieredReader(copy, record: record, below: below) }
    guard let below else { throw CacheError(.io, "there is nothing to read", key: record.key) }
    return below
  }

  private func begin() throws(CacheError) -> (any BodyWriter)? {
    let (base, end) = state.withLock { ($0.base, $0.end) }
    if let end { throw end }
    return base
  }

  // Keeps a copy of the bytes, or drops the copy if it gets too long, or there are too many.
  private func copy(_ bytes: BodyBytes, isOnly: Bool) -> Bool {
    let limit = isOnly ? tier.memory.largestEntry : tier.longestCopy
    let count = Int64(bytes.count)
    let (copy, dropped): (GrowingBody?, GrowingBody?) = state.withLock { state in
      guard state.end == nil, let copy = state.copy else { return (nil, nil) }
      if state.copied + count <= limit,
        isOnly || tier.memory.mayCollect(count, having: state.copied)
      {
        state.copied += count
        return (copy, nil)
      }
      if isOnly { return (nil, nil) }
      state.copied = 0
      state.copy = nil
      return (nil, copy)
    }
    if let copy {
      tier.memory.addInFlight(count)
      copy.append(bytes)
    } else if let dropped {
      tier.memory.addInFlight(-dropped.count)
      dropped.drop()
    }
    return copy != nil
  }

  // The store below failed: memory goes on alone if it has everything, else the error stands. What is
  // too large or not what was announced is no failure of the store.
  private func goOnWithout(
    _ base: any BodyWriter, after error: CacheError, in operation: String, isCopied: () -> Bool
  ) throws(CacheError) {
    let isFailure = ![.tooLarge, .damaged, .notAdmitted, .superseded].contains(error.code)
    let hasEnded = state.withLock { $0.end != nil }
    guard isFailure, !hasEnded, isCopied() else {
      end(error)
      throw error
    }
    tier.report(operation, error)
    state.withLock { $0.base = nil }
    base.abandon()
  }

  private func end(_ error: CacheError) {
    let (base, copied): ((any BodyWriter)?, Int64) = state.withLock { state in
      guard state.end == nil else { return (nil, 0) }
      state.end = error
      return (state.base, state.copied)
    }
    tier.memory.addInFlight(-copied)
    base?.abandon()
  }
}
