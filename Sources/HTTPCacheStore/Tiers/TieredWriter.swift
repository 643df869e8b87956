import HTTPCacheSemantics
import HTTPTypes
import Synchronization

/// Writes a body to the store below, and keeps a copy as long as it is small.
final class TieredWriter: CloningBodyWriter {
  private struct State {
    // The writer of the store below; nil if the response stays in memory.
    var base: (any BodyWriter)?
    // The copy; nil once it has grown too long.
    var copy: GrowingBody?
    var written: Int64 = 0
    var hasReader = false
    var isCommitted = false
    // Why it takes no more bytes.
    var end: CacheError?
  }

  private let record: CacheRecord
  private let variantLimit: Int
  private let isExtension: Bool
  private let tier: TieredStore
  private let reservation: MemoryReservation
  private let state: Mutex<State>

  /// - Parameters:
  ///   - base: the writer of the store below; nil keeps the response only in memory.
  ///   - isExtension: whether bytes are added to a part of the store below, which compares the response itself.
  /// - Throws: `CacheError.tooLarge` or `CacheError.notAdmitted` if memory has to keep the only copy and
  ///   cannot.
  init(
    _ record: CacheRecord, variantLimit: Int, base: (any BodyWriter)?, tier: TieredStore,
    isExtension: Bool = false
  ) throws(CacheError) {
    self.record = record
    self.variantLimit = variantLimit
    self.isExtension = isExtension
    self.tier = tier
    let limit = base == nil ? tier.memory.largestEntry : tier.longestCopy
    let isSmall = record.isComplete && record.bodyLength ?? 0 <= limit
    if base == nil, !isSmall {
      throw CacheError(.tooLarge, "more than \(limit) bytes in memory", key: record.key)
    }
    reservation = MemoryReservation(for: record, announced: record.bodyLength, store: tier.memory)
    let copy = isSmall ? GrowingBody(announced: record.bodyLength, reservation: reservation) : nil
    state = Mutex(State(base: base, copy: copy))
    if base == nil { try reservation.becomeOnlyCopy() }
  }

  deinit { abandon() }

  var bytesWritten: Int64 { state.withLock { $0.written } }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    // Append to the copy second: bytes that could not be stored must not be read.
    if let base = try begin() {
      do {
        try await base.append(bytes)
        copy(bytes)
      } catch {
        try goOnWithout(base, after: error, in: "append") { () throws(CacheError) in try keep(bytes) }
      }
    } else {
      do { try keep(bytes) } catch {
        end(error)
        throw error
      }
    }
    state.withLock { $0.written += Int64(bytes.count) }
  }

  func appendClone(
    of descriptor: Int32, length: Int64, see: (BodyBytes) -> Void
  ) async throws(CacheError) -> Bool {
    guard let base = try begin() as? any CloningBodyWriter, state.withLock({ $0.copy == nil }),
      try await base.appendClone(of: descriptor, length: length, see: see)
    else { return false }
    state.withLock { $0.written += length }
    return true
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    let base = try begin()
    let done = CacheError(.closed, "the writer was committed", key: record.key)
    if let base {
      do throws(CacheError) { if !isExtension { try tier.requireNotSuperseded(record) } } catch {
        end(error)
        throw error
      }
      do {
        let moment = tier.moment(of: record.key)
        let stored = try await base.commit(trailers: trailers)
        let copy = committed()?.finish()
        // The copy counts as stored if the memory store adopts it.
        reservation.release()
        tier.didCommit(stored, body: copy, since: moment)
        end(done)
        return stored
      } catch {
        try goOnWithout(base, after: error, in: "commit") { () throws(CacheError) in try keep(BodyBytes()) }
      }
    }
    defer { end(done) }
    guard let bytes = state.withLock({ $0.copy })?.finish() else {
      throw CacheError(.io, "nothing was kept in memory", key: record.key)
    }
    let stored = try await tier.commitToMemory(
      record, trailers: trailers, body: bytes, variantLimit: variantLimit, from: reservation)
    _ = committed()
    return stored
  }

  // Readers of the growing body may still be opened, so none of its bytes are dropped.
  private func committed() -> GrowingBody? {
    state.withLock { state in
      state.isCommitted = true
      return state.copy
    }
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    let base = try begin()
    defer { end(CacheError(.closed, "the writer kept what came", key: record.key)) }
    if let base {
      guard let stored = try await base.keep() else { return nil }
      tier.didCommit(stored, body: nil, since: nil)
      return stored
    }
    // A response that memory keeps because the store below failed is whole or not kept.
    guard record.isMemoryOnly, record.isResumable,
      let bytes = state.withLock({ $0.copy })?.finish(), !bytes.isEmpty
    else { return nil }
    let kept = record.holding([0..<Int64(bytes.count)], bodyLength: record.bodyLength)
    let stored = try tier.memory.commit(
      kept, body: bytes, variantLimit: variantLimit, from: reservation, ticketOf: tier.base)
    _ = committed()
    return stored
  }

  func abandon() {
    end(CacheError(.closed, "the writer was abandoned", key: record.key))
    let unread = state.withLock { state in
      guard !state.isCommitted, !state.hasReader else { return nil as GrowingBody? }
      return state.copy.take()
    }
    unread?.drop()
  }

  func reader() throws(CacheError) -> any BodyReader {
    let (base, copy) = state.withLock { state in
      state.hasReader = true
      return (state.base, state.copy)
    }
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

  // Keeps a copy of bytes that the store below has. Drops the copy if it gets too long, or if all copies
  // together take too much memory.
  private func copy(_ bytes: BodyBytes) {
    let count = Int64(bytes.count)
    guard let copy = state.withLock({ $0.end == nil ? $0.copy : nil }) else { return }
    let copied = copy.count
    if copied + count <= tier.longestCopy, tier.memory.mayCollect(count, having: copied) {
      do throws(CacheError) { return try append(bytes, to: copy) } catch {
        // The store below has the bytes; drop the copy, as for one that is too long.
      }
    }
    state.withLock { $0.copy = nil }
    copy.drop()
  }

  // Keeps bytes that are stored nowhere else.
  private func keep(_ bytes: BodyBytes) throws(CacheError) {
    let (copy, end) = state.withLock { ($0.copy, $0.end) }
    if let end { throw end }
    guard let copy else { throw CacheError(.io, "nothing was kept in memory", key: record.key) }
    guard copy.count + Int64(bytes.count) <= tier.memory.largestEntry else {
      throw CacheError(
        .tooLarge, "more than \(tier.memory.largestEntry) bytes in memory", key: record.key)
    }
    try reservation.becomeOnlyCopy()
    try append(bytes, to: copy)
  }

  private func append(_ bytes: BodyBytes, to copy: GrowingBody) throws(CacheError) {
    try reservation.add(Int64(bytes.count))
    copy.append(bytes)
  }

  // The store below failed: memory keeps the response if it has all bytes, otherwise the error is thrown. A
  // body that is too large or not as announced is not a failure of the store.
  private func goOnWithout(
    _ base: any BodyWriter, after error: CacheError, in operation: String, keep: () throws(CacheError) -> Void
  ) throws(CacheError) {
    let isFailure = ![.tooLarge, .damaged, .notAdmitted, .superseded, .wiped].contains(error.code)
    let hasEnded = state.withLock { $0.end != nil }
    do throws(CacheError) {
      guard isFailure, !hasEnded else { throw error }
      try keep()
    } catch _ {
      end(error)
      throw error
    }
    tier.report(operation, error)
    state.withLock { $0.base = nil }
    base.abandon()
  }

  private func end(_ error: CacheError) {
    let (base, copy): ((any BodyWriter)?, GrowingBody?) = state.withLock { state in
      guard state.end == nil else { return (nil, nil) }
      state.end = error
      guard let base = state.base else { return (nil, nil) }
      // Readers continue with the store below.
      return (base, state.isCommitted ? nil : state.copy.take())
    }
    reservation.stopGrowing()
    copy?.drop()
    base?.abandon()
  }
}
