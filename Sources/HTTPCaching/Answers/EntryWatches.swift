import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The iterators of `EntryUpdates` that wait for a response to be stored.
final class EntryWatches: Sendable {
  private struct Watch {
    /// The origin of the watched target with a slash: a response may be stored under another name of its target,
    /// and each name is of the same origin.
    let origin: String
    let signal: AsyncStream<Void>.Continuation
  }

  private struct State {
    var watches: [Int: Watch] = [:]
    var next = 0
  }

  private let state = Mutex(State())
  private let count = Atomic<Int>(0)

  var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  /// Signals after each response of an origin that is stored; several are one signal until the reader takes it.
  func signals(of origin: String) -> AsyncStream<Void> {
    let (stream, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.next += 1
      state.watches[state.next] = Watch(origin: origin + "/", signal: signal)
      count.store(state.watches.count, ordering: .relaxed)
      return state.next
    }
    signal.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  func tell(_ event: CacheEvent) {
    guard case .stored(let key, _) = event else { return }
    let signals = state.withLock { state in
      state.watches.values.filter { key.target.hasPrefix($0.origin) }.map(\.signal)
    }
    for signal in signals { signal.yield() }
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      state.watches[number] = nil
      count.store(state.watches.count, ordering: .relaxed)
    }
  }
}
