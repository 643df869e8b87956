import HTTPCacheSemantics
import Synchronization

/// The bytes that one body being written uses in a memory store.
///
/// The growing body owns its reservation: the bytes count in `MemoryStore.usage` until the response is
/// committed, or until the writer and all readers have released the body.
final class MemoryReservation: Sendable {
  private struct State {
    // Bytes appended.
    var written: Int64 = 0
    // Bytes promised to this body, including those appended; 0 for a copy of a body that is stored elsewhere.
    var promised: Int64 = 0
    var isOnlyCopy = false
    var isReleased = false
  }

  private let store: MemoryStore
  private let record: CacheRecord
  private let announced: Int64
  private let keepsStored: Bool
  private let state = Mutex(State())

  /// - Parameters:
  ///   - record: the record of the response that is being written.
  ///   - announced: the length of the body in bytes; nil if unknown.
  ///   - keepsStored: whether the responses stored for the key must stay while the body grows.
  init(
    for record: CacheRecord, announced: Int64?, keepsStored: Bool = false, store: MemoryStore
  ) {
    self.record = record
    self.announced = max(0, announced ?? 0)
    self.keepsStored = keepsStored
    self.store = store
  }

  deinit { release() }

  /// Bytes appended that still count as being written.
  var written: Int64 { state.withLock { $0.written } }

  /// Makes this body the only copy, stored nowhere else, and promises it its announced length: all such bodies
  /// together may take the whole capacity.
  ///
  /// - Throws: `CacheError.notAdmitted` if other bodies that are being written need the memory.
  func becomeOnlyCopy() throws(CacheError) {
    let wanted: Int64? = state.withLock { state in
      state.isOnlyCopy || state.isReleased ? nil : max(announced, state.written)
    }
    guard let wanted else { return }
    guard store.promise(wanted) else { throw refusal(of: wanted) }
    let isLate = state.withLock { state in
      if state.isReleased { return true }
      state.isOnlyCopy = true
      state.promised = wanted
      return false
    }
    if isLate { store.takeBack(promised: wanted, written: 0) }
  }

  /// Counts bytes before they are appended, and evicts entries that the response may displace if needed.
  ///
  /// - Throws: `CacheError.notAdmitted` if too few bytes can be freed; `CacheError.closed` after `release`.
  func add(_ bytes: Int64) throws(CacheError) {
    let (missing, size): (Int64, Int64) = state.withLock { state in
      let size = state.written + bytes
      return (state.isOnlyCopy ? max(0, size - state.promised) : 0, max(size, announced))
    }
    guard store.promise(missing) else { throw refusal(of: missing) }
    guard store.collect(bytes, of: record, bodySize: size, keepsStored: keepsStored) else {
      store.takeBack(promised: missing, written: 0)
      throw CacheError(
        .notAdmitted, "no room for \(bytes) bytes: what is stored is worth more, or must stay",
        key: record.key)
    }
    let isLate = state.withLock { state in
      if state.isReleased { return true }
      state.written += bytes
      state.promised += missing
      return false
    }
    guard isLate else { return }
    store.takeBack(promised: missing, written: bytes)
    throw CacheError(.closed, "the writer was committed or abandoned", key: record.key)
  }

  /// The body stops growing, but readers still hold its bytes.
  func stopGrowing() {
    let promised = state.withLock { state in
      defer { state.promised = 0 }
      return state.promised
    }
    store.takeBack(promised: promised, written: 0)
  }

  /// The bytes are stored, or released by the writer and all readers. Calling it again does nothing.
  func release() {
    let (promised, written): (Int64, Int64) = state.withLock { state in
      state.isReleased = true
      defer { (state.promised, state.written) = (0, 0) }
      return (state.promised, state.written)
    }
    store.takeBack(promised: promised, written: written)
  }

  private func refusal(of bytes: Int64) -> CacheError {
    CacheError(
      .notAdmitted,
      "no room for \(bytes) bytes: other bodies being written need the memory, of \(store.capacityNow) bytes",
      key: record.key)
  }
}
