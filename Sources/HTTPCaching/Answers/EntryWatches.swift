import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The iterators of `EntryUpdates` that wait for an entry to change.
final class EntryWatches: Sendable {
  private struct Watch {
    /// The origin of the watched target: a response may be stored under another name of its target, and each name is
    /// of the same origin.
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

  /// Signals after each change of the entries of an origin; several are one signal until the reader takes it.
  func signals(of origin: String) -> AsyncStream<Void> {
    let (stream, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.next += 1
      state.watches[state.next] = Watch(origin: origin, signal: signal)
      count.store(state.watches.count, ordering: .relaxed)
      return state.next
    }
    signal.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  func tell(_ event: CacheEvent) {
    let changed: String?
    switch event {
    case .stored(let key, _), .freshened(let key), .removed(let key, _): changed = key.target
    case .invalidated(let target): changed = target
    case .siteCleared(let origin, _): changed = origin
    case .selectionRemoved, .selectionInvalidated, .selectionExpired, .wiped: changed = nil
    case .answered, .kept, .notStored, .hookFailed, .upstreamFailed, .notAsked, .validatingInBackground,
      .encryption, .capacityChanged, .fleet, .storeFailed:
      return
    }
    // The reader looks for itself what has changed: one signal too many does no harm.
    let signals = state.withLock { state in
      state.watches.values.filter { changed?.hasPrefix($0.origin) ?? true }.map(\.signal)
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
