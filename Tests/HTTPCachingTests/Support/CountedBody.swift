import HTTPCaching
import Synchronization

/// A body that gives pieces of its own memory, and counts the bytes of all such bodies that any object holds,
/// now and at most.
final class CountedBody: BodySource {
  /// The held bytes of all bodies that share this counter.
  final class Held: Sendable {
    private let state = Mutex<(now: Int, peak: Int)>((0, 0))

    var peak: Int { state.withLock { $0.peak } }

    fileprivate func add(_ bytes: Int) {
      state.withLock { state in
        state.now += bytes
        state.peak = max(state.peak, state.now)
      }
    }
  }

  private final class Piece: @unchecked Sendable {
    // @unchecked Sendable because the memory is never written.
    let memory: UnsafeMutableRawBufferPointer
    let held: Held

    init(_ count: Int, _ held: Held) {
      memory = .allocate(byteCount: count, alignment: 16)
      memory.initializeMemory(as: UInt8.self, repeating: 7)
      self.held = held
      held.add(count)
    }

    deinit {
      held.add(-memory.count)
      memory.deallocate()
    }
  }

  private let held: Held
  private let rest: Mutex<Int>
  let length: Int64?
  var trailers: HTTPFields { [:] }

  init(count: Int, isAnnounced: Bool, held: Held) {
    self.held = held
    rest = Mutex(count)
    length = isAnnounced ? Int64(count) : nil
  }

  func next() async throws -> BodyBytes? {
    // Like a network, lets other bodies proceed in between.
    await Task.yield()
    let count = rest.withLock { rest in
      let count = min(64 << 10, rest)
      rest -= count
      return count
    }
    guard count > 0 else { return nil }
    let piece = Piece(count, held)
    return BodyBytes(unsafeBytes: UnsafeRawBufferPointer(piece.memory), keepingAlive: piece)
  }

  func cancel() { rest.withLock { $0 = 0 } }
}
