import HTTPCacheSemantics
import HTTPTypes
import Synchronization

/// Adds bytes to a partial body in memory.
final class MemoryExtension: BodyWriter {
  private struct State {
    // Why it takes no more bytes.
    var end: CacheError?
    var hasReader = false
    var isCommitted = false
    var isAbandoned = false
  }

  private let record: CacheRecord
  private let store: MemoryStore
  private let body: ExtendedBody
  private let reservation: MemoryReservation
  private let state = Mutex(State())

  /// - Throws: `CacheError.unavailable` if it is not stored, the body has another length, or another writer is
  ///   adding to it; `CacheError.tooLarge` if the body would have too many ranges.
  init(_ record: CacheRecord, at offset: Int64, store: MemoryStore) throws(CacheError) {
    guard store.beginExtension(of: record.sequence) else {
      throw CacheError(.unavailable, "another writer is adding to it", key: record.key)
    }
    do throws(CacheError) {
      let (base, length) = try Self.part(of: record, in: store)
      if StoredRanges.isFull(base.availableRanges, at: offset) {
        throw CacheError(.tooLarge, "too many parts of the body are stored", key: record.key)
      }
      reservation = MemoryReservation(for: record, announced: nil, keepsStored: true, store: store)
      body = ExtendedBody(base, at: max(0, offset), length: length, reservation: reservation)
      try reservation.becomeOnlyCopy()
      self.record = record.storing(base.availableRanges, bodyLength: length)
    } catch {
      store.endExtension(of: record.sequence)
      throw error
    }
    self.store = store
  }

  private static func part(
    of record: CacheRecord, in store: MemoryStore
  ) throws(CacheError) -> (MemoryBody, Int64?) {
    guard let found = store.group(record.key)?.partial(record.sequence),
      let base = found.body as? MemoryBody
    else { throw CacheError(.unavailable, "no part of it is stored", key: record.key) }
    let stored = found.record.bodyLength
    if let announced = record.bodyLength,
      announced != stored ?? announced || announced < base.availableRanges.last?.upperBound ?? 0
    {
      throw CacheError(
        .unavailable, "what is stored is not of a body of \(announced) bytes", key: record.key)
    }
    return (base, stored ?? record.bodyLength)
  }

  deinit { abandon() }

  var bytesWritten: Int64 { body.appended }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    try check()
    let count = Int64(bytes.count)
    guard body.end.saturatingAdd(count) <= record.bodyLength ?? .max else {
      throw fail(CacheError(.damaged, "more bytes came than the body has", key: record.key))
    }
    guard body.stored(after: count) <= store.largestEntry else {
      throw fail(
        CacheError(.tooLarge, "more than \(store.largestEntry) bytes", key: record.key))
    }
    do { try reservation.add(count) } catch { throw fail(error) }
    body.append(bytes)
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    var response = record.response
    response.trailers = trailers
    return try finish(record.with(response: response))
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    try check()
    guard body.appended > 0 else {
      abandon()
      return nil
    }
    return try finish(record)
  }

  func abandon() {
    _ = fail(CacheError(.closed, "the writer was committed or abandoned", key: record.key))
    let isUnread = state.withLock { state in
      state.isAbandoned = !state.isCommitted
      return state.isAbandoned && !state.hasReader
    }
    if isUnread { body.drop() }
  }

  func reader() throws(CacheError) -> any BodyReader {
    let isThere = state.withLock { state in
      if state.isAbandoned, !state.hasReader { return false }
      state.hasReader = true
      return true
    }
    guard isThere else { throw CacheError(.closed, "the writer was abandoned", key: record.key) }
    return ExtendedReader(body)
  }

  private func finish(_ record: CacheRecord) throws(CacheError) -> CacheRecord {
    try check()
    defer { abandon() }
    let ranges = body.ranges
    let stored = try store.commit(
      record.holding(ranges, bodyLength: record.bodyLength), body: body.joined(ranges),
      extending: record.sequence, from: reservation)
    state.withLock { $0.isCommitted = true }
    body.finish()
    return stored
  }

  private func check() throws(CacheError) {
    if let end = state.withLock({ $0.end }) { throw end }
  }

  private func fail(_ error: CacheError) -> CacheError {
    let isFirst = state.withLock { state in
      guard state.end == nil else { return false }
      state.end = error
      return true
    }
    guard isFirst else { return error }
    reservation.stopGrowing()
    store.endExtension(of: record.sequence)
    return error
  }
}
