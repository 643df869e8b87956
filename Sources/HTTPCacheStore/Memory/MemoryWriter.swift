import HTTPCacheSemantics
import HTTPTypes
import Synchronization

/// Collects a body for a memory store: a whole body, parts of one, or the bytes that are missing after a stored part.
final class MemoryWriter: BodyWriter {
  private struct State {
    // Why it takes no more bytes.
    var end: CacheError?
    var hasReader = false
    var isCommitted = false
    var isAbandoned = false
  }

  private let record: CacheRecord
  private let variantLimit: Int
  private let store: MemoryStore
  /// The store that gave the ticket; nil if it is `store`.
  private let source: (any CacheStore)?
  // The sequence number of the stored part to which bytes are added.
  private let part: UInt64?
  private let bytes: GrowingBody
  private let body: ArrivingBody
  private let reservation: MemoryReservation
  private let state = Mutex(State())

  private init(
    _ record: CacheRecord, variantLimit: Int, extending stored: MemoryBody?, at targets: [Range<Int64>]?,
    reservation: MemoryReservation, store: MemoryStore, ticketOf source: (any CacheStore)?
  ) {
    self.record = record
    self.variantLimit = variantLimit
    self.store = store
    self.source = source
    self.reservation = reservation
    part = stored == nil ? nil : record.sequence
    bytes = GrowingBody(
      announced: stored == nil ? Self.expected(record) : nil, reservation: reservation)
    body = ArrivingBody(bytes, targets: targets, length: record.bodyLength, over: stored)
  }

  /// - Throws: `CacheError.tooLarge` if the announced length is too large, `CacheError.notAdmitted` if other
  ///   bodies that are being written need the memory, `CacheError.damaged` for ranges outside the body.
  convenience init(
    _ record: CacheRecord, variantLimit: Int, store: MemoryStore, ticketOf source: (any CacheStore)? = nil
  ) throws(CacheError) {
    let expected = Self.expected(record)
    if let expected, expected > store.largestEntry {
      throw Self.tooLarge(expected, store: store, key: record.key)
    }
    try record.requireParts()
    let reservation = MemoryReservation(for: record, announced: expected, store: store)
    try reservation.becomeOnlyCopy()
    self.init(
      record, variantLimit: variantLimit, extending: nil, at: record.storedRanges, reservation: reservation,
      store: store, ticketOf: source)
  }

  /// A writer that adds bytes to a stored part.
  ///
  /// - Throws: `CacheError.unavailable` if the part is not stored, the body has another length, or another writer
  ///   is adding to it; `CacheError.tooLarge` if the body would have too many ranges.
  convenience init(
    extending record: CacheRecord, at offset: Int64, store: MemoryStore,
    ticketOf source: (any CacheStore)? = nil
  ) throws(CacheError) {
    guard store.beginExtension(of: record.sequence) else {
      throw CacheError(.unavailable, "another writer is adding to it", key: record.key)
    }
    do throws(CacheError) {
      let (base, length) = try Self.part(of: record, in: store)
      if StoredRanges.isFull(base.availableRanges, at: offset) {
        throw CacheError(.tooLarge, "too many parts of the body are stored", key: record.key)
      }
      let reservation = MemoryReservation(for: record, announced: nil, keepsStored: true, store: store)
      try reservation.becomeOnlyCopy()
      self.init(
        record.storing(base.availableRanges, bodyLength: length), variantLimit: .max, extending: base,
        at: [max(0, offset)..<(.max)], reservation: reservation, store: store, ticketOf: source)
    } catch {
      store.endExtension(of: record.sequence)
      throw error
    }
  }

  private static func part(
    of record: CacheRecord, in store: MemoryStore
  ) throws(CacheError) -> (MemoryBody, Int64?) {
    guard let found = store.group(record.key)?.partial(record.sequence),
      let base = found.body as? MemoryBody
    else { throw CacheError(.unavailable, "no part of it is stored", key: record.key) }
    return (base, try record.length(over: found.record))
  }

  deinit { abandon() }

  var bytesWritten: Int64 { bytes.count }

  func append(_ new: BodyBytes) async throws(CacheError) {
    try check()
    let ranges = body.ranges(having: bytes.count.saturatingAdd(Int64(new.count)))
    guard part == nil || ranges.last?.upperBound ?? 0 <= record.bodyLength ?? .max else {
      throw fail(CacheError(.damaged, "more bytes came than the body has", key: record.key))
    }
    // Of parts, more bytes may come than announced; `arrived` refuses them.
    let count = max(StoredRanges.count(ranges), part == nil ? bytes.count + Int64(new.count) : 0)
    guard count <= store.largestEntry else {
      throw fail(Self.tooLarge(count, store: store, key: record.key))
    }
    do { try reservation.add(Int64(new.count)) } catch { throw fail(error) }
    bytes.append(new)
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    try check()
    defer { abandon() }
    var response = record.response
    response.trailers = trailers
    let whole = part == nil && record.storedRanges == nil
    let arrived = whole ? record.storing(nil, bodyLength: bytes.count) : try self.arrived()
    guard !whole || record.bodyLength ?? bytes.count == bytes.count else { throw damaged() }
    return try store(arrived.with(response: response))
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    try check()
    defer { abandon() }
    guard part != nil || record.isResumable, bytes.count > 0 else { return nil }
    return try store(arrived())
  }

  private func store(_ record: CacheRecord) throws(CacheError) -> CacheRecord {
    let all = bytes.finish()
    let stored = try store.commit(
      record, body: part == nil ? all : body.joined(), variantLimit: variantLimit, extending: part,
      from: reservation, ticketOf: source)
    state.withLock { $0.isCommitted = true }
    return stored
  }

  // The record for the part that arrived, which may be shorter than announced.
  private func arrived() throws(CacheError) -> CacheRecord {
    let ranges = body.availableRanges
    let isSound = part != nil || bytes.count > 0 && bytes.count == StoredRanges.count(ranges)
    guard isSound, ranges.last?.upperBound ?? 0 <= record.bodyLength ?? .max else { throw damaged() }
    return record.holding(ranges, bodyLength: record.bodyLength)
  }

  private func damaged() -> CacheError {
    CacheError(
      .damaged, "\(Self.expected(record) ?? 0) bytes were announced, \(bytes.count) came", key: record.key)
  }

  func abandon() {
    _ = fail(CacheError(.closed, "the writer was committed or abandoned", key: record.key))
    let isUnread = state.withLock { state in
      state.isAbandoned = !state.isCommitted
      return state.isAbandoned && !state.hasReader
    }
    if isUnread { bytes.drop() }
  }

  func reader() throws(CacheError) -> any BodyReader {
    let isThere = state.withLock { state in
      if state.isAbandoned, !state.hasReader { return false }
      state.hasReader = true
      return true
    }
    guard isThere else { throw CacheError(.closed, "the writer was abandoned", key: record.key) }
    return body
  }

  private func check() throws(CacheError) {
    if let end = state.withLock({ $0.end }) { throw end }
  }

  private func fail(_ error: CacheError) -> CacheError {
    let isFirst = state.withLock { state in
      defer { state.end = state.end ?? error }
      return state.end == nil
    }
    guard isFirst else { return error }
    reservation.stopGrowing()
    if let part { store.endExtension(of: part) }
    return error
  }

  // The bytes that are expected; nil if unknown.
  private static func expected(_ record: CacheRecord) -> Int64? {
    record.storedRanges.map(StoredRanges.count) ?? record.bodyLength
  }

  private static func tooLarge(_ count: Int64, store: MemoryStore, key: CacheKey) -> CacheError {
    CacheError(.tooLarge, "\(count) bytes, at most \(store.largestEntry)", key: key)
  }
}
