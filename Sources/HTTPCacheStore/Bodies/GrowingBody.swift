import Synchronization

/// A body in memory that grows while it is read. Appended bytes never move under a reader: a reader shares the
/// current memory, and later bytes may go into a larger memory.
final class GrowingBody: Sendable {
  private final class Memory: @unchecked Sendable {
    // @unchecked Sendable because only bytes that no reader can see are written, under the body's lock.
    let bytes: UnsafeMutableRawBufferPointer

    init(capacity: Int) {
      bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, capacity), alignment: 16)
    }

    deinit { bytes.deallocate() }

    func slice(_ range: Range<Int>) -> BodyBytes {
      BodyBytes(
        unsafeBytes: UnsafeRawBufferPointer(rebasing: bytes[range]), keepingAlive: self)
    }
  }

  private struct State {
    var memory: Memory?
    var count = 0
    var isComplete = false
    var isDropped = false
  }

  // At most this much memory is allocated for an announced length before its bytes arrive.
  private static let believedAhead = 1 << 20

  private let announced: Int?
  private let reservation: MemoryReservation?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - announced: the expected number of bytes, if known.
  ///   - reservation: counts the bytes as long as they are kept.
  init(announced: Int64?, reservation: MemoryReservation? = nil) {
    self.announced = announced.map { Int(clamping: max(0, $0)) }
    self.reservation = reservation
  }

  /// The number of bytes that have arrived.
  var count: Int64 { state.withLock { Int64($0.count) } }

  /// Whether no more bytes will follow.
  var isComplete: Bool { state.withLock { $0.isComplete } }

  /// Whether its bytes are no longer kept.
  var isDropped: Bool { state.withLock { $0.isDropped } }

  /// Releases the bytes; readers that share them keep them alive.
  func drop() {
    state.withLock { state in
      state.memory = nil
      state.isDropped = true
    }
    reservation?.release()
  }

  /// Copies bytes to the end.
  func append(_ bytes: BodyBytes) {
    guard !bytes.isEmpty else { return }
    state.withLock { state in
      guard !state.isDropped else { return }
      let needed = state.count + bytes.count
      let memory = room(for: needed, in: &state)
      bytes.withUnsafeBytes { source in
        UnsafeMutableRawBufferPointer(rebasing: memory.bytes[state.count..<needed])
          .copyMemory(from: source)
      }
      state.count = needed
    }
  }

  /// The arrived bytes of `range`, which must be within the appended bytes; nil if the bytes were dropped.
  func read(_ range: Range<Int>) -> BodyBytes? {
    state.withLock { state in
      if state.isDropped { return nil }
      let clamped = range.clamped(to: 0..<state.count)
      guard let memory = state.memory, !clamped.isEmpty else { return BodyBytes() }
      return memory.slice(clamped)
    }
  }

  /// All bytes in one piece of exact size. No bytes may be appended afterwards.
  func finish() -> BodyBytes {
    state.withLock { state in
      state.isComplete = true
      guard let memory = state.memory, state.count > 0 else { return BodyBytes() }
      if memory.bytes.count > state.count {
        let exact = Memory(capacity: state.count)
        exact.bytes.copyMemory(
          from: UnsafeRawBufferPointer(rebasing: memory.bytes[..<state.count]))
        state.memory = exact
      }
      return (state.memory ?? memory).slice(0..<state.count)
    }
  }

  private func room(for needed: Int, in state: inout State) -> Memory {
    if let memory = state.memory, memory.bytes.count >= needed { return memory }
    var capacity = max(needed, 2 * state.count)
    if let announced, announced >= needed {
      capacity = min(announced, max(capacity, Self.believedAhead))
    }
    let larger = Memory(capacity: capacity)
    if let memory = state.memory {
      larger.bytes.copyMemory(
        from: UnsafeRawBufferPointer(rebasing: memory.bytes[..<state.count]))
    }
    state.memory = larger
    return larger
  }
}
