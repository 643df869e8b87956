import HTTPCacheSemantics
import HTTPTypes
import Synchronization

/// Collects a body for a memory store.
final class MemoryWriter: BodyWriter {
  private enum Phase {
    case writing
    case failed(CacheError)
    case committed
    case abandoned
  }

  private struct State {
    var phase = Phase.writing
    var hasReader = false
  }

  private let record: CacheRecord
  private let variantLimit: Int
  private let store: MemoryStore
  private let body: GrowingBody
  private let reservation: MemoryReservation
  private let state = Mutex(State())

  /// - Throws: `CacheError.tooLarge` if the announced length is too large, `CacheError.notAdmitted` if other
  ///   bodies that are being written need the memory, `CacheError.damaged` for ranges outside the body.
  init(_ record: CacheRecord, variantLimit: Int, store: MemoryStore) throws(CacheError) {
    let expected = BodySlices(of: record).storedLength ?? record.bodyLength
    if let expected, expected > store.largestEntry {
      throw Self.tooLarge(expected, store: store, key: record.key)
    }
    guard StoredRanges.areParts(record.storedRanges ?? [], of: record.bodyLength) else {
      throw CacheError(.damaged, "these are no parts of the body", key: record.key)
    }
    self.record = record
    self.variantLimit = variantLimit
    self.store = store
    reservation = MemoryReservation(for: record, announced: expected, store: store)
    body = GrowingBody(announced: expected, reservation: reservation)
    try reservation.becomeOnlyCopy()
  }

  deinit { abandon() }

  var bytesWritten: Int64 { body.count }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    try check()
    let count = body.count + Int64(bytes.count)
    guard count <= store.largestEntry else {
      throw fail(Self.tooLarge(count, store: store, key: record.key))
    }
    do { try reservation.add(Int64(bytes.count)) } catch { throw fail(error) }
    body.append(bytes)
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    try check()
    let bytes = body.finish()
    defer { abandon() }
    var response = record.response
    response.trailers = trailers
    let arrived = try arrived(Int64(bytes.count)).with(response: response)
    let stored = try store.commit(arrived, body: bytes, variantLimit: variantLimit, from: reservation)
    state.withLock { $0.phase = .committed }
    return stored
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    try check()
    guard record.isResumable, body.count > 0 else {
      abandon()
      return nil
    }
    let bytes = body.finish()
    defer { abandon() }
    let count = Int64(bytes.count)
    guard count <= record.bodyLength ?? .max else { throw damaged(count) }
    let ranges = StoredRanges.prefix(record.storedRanges ?? [0..<count], count: count)
    let stored = try store.commit(
      record.holding(ranges, bodyLength: record.bodyLength), body: bytes,
      variantLimit: variantLimit, from: reservation)
    state.withLock { $0.phase = .committed }
    return stored
  }

  // The record for the bytes that arrived; a part may be shorter than announced.
  private func arrived(_ count: Int64) throws(CacheError) -> CacheRecord {
    guard let ranges = record.storedRanges else {
      guard record.bodyLength ?? count == count else { throw damaged(count) }
      return record.storing(nil, bodyLength: count)
    }
    guard count > 0, count <= StoredRanges.count(ranges) else { throw damaged(count) }
    return record.holding(
      StoredRanges.prefix(ranges, count: count), bodyLength: record.bodyLength)
  }

  private func damaged(_ count: Int64) -> CacheError {
    let expected = BodySlices(of: record).storedLength ?? record.bodyLength ?? 0
    return CacheError(
      .damaged, "\(expected) bytes were announced, \(count) came", key: record.key)
  }

  func abandon() {
    let isUnread: Bool? = state.withLock { state in
      if case .committed = state.phase { return nil }
      state.phase = .abandoned
      return !state.hasReader
    }
    guard let isUnread else { return }
    if isUnread { body.drop() } else { reservation.stopGrowing() }
  }

  func reader() throws(CacheError) -> any BodyReader {
    let isThere = state.withLock { state in
      if case .abandoned = state.phase, !state.hasReader { return false }
      state.hasReader = true
      return true
    }
    guard isThere else { throw CacheError(.closed, "the writer was abandoned", key: record.key) }
    return GrowingReader(body, record: record)
  }

  private func check() throws(CacheError) {
    switch state.withLock({ $0.phase }) {
    case .writing: return
    case .failed(let error): throw error
    case .committed, .abandoned:
      throw CacheError(.closed, "the writer was committed or abandoned", key: record.key)
    }
  }

  private func fail(_ error: CacheError) -> CacheError {
    state.withLock { state in
      if case .writing = state.phase { state.phase = .failed(error) }
    }
    reservation.stopGrowing()
    return error
  }

  private static func tooLarge(_ count: Int64, store: MemoryStore, key: CacheKey) -> CacheError {
    CacheError(.tooLarge, "\(count) bytes, at most \(store.largestEntry)", key: key)
  }
}
