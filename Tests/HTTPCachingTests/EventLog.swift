import HTTPCaching
import Synchronization

/// Remembers events and lets tests wait for them.
final class EventLog: CacheObserver {
  private struct Waiter {
    let matches: @Sendable (CacheEvent) -> Bool
    let count: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private let state = Mutex((events: [CacheEvent](), waiters: [Waiter]()))

  var events: [CacheEvent] { state.withLock { $0.events } }

  func count(_ matches: (CacheEvent) -> Bool) -> Int { events.filter(matches).count }

  func cache(did event: CacheEvent) {
    let due = state.withLock { state in
      state.events.append(event)
      let events = state.events
      let due = state.waiters.filter { waiter in events.filter(waiter.matches).count >= waiter.count }
      state.waiters.removeAll { waiter in events.filter(waiter.matches).count >= waiter.count }
      return due
    }
    for waiter in due { waiter.continuation.resume() }
  }

  func wait(count: Int = 1, _ matches: @escaping @Sendable (CacheEvent) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.events.filter(matches).count >= count { return true }
        state.waiters.append(Waiter(matches: matches, count: count, continuation: continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
