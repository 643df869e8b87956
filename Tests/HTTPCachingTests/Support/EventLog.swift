import HTTPCacheTesting
import HTTPCaching

/// Records events and lets tests wait for them.
final class EventLog: CacheObserver {
  private let state = WatchedState([CacheEvent]())

  var events: [CacheEvent] { state.withLock { $0 } }

  func count(_ matches: (CacheEvent) -> Bool) -> Int { events.filter(matches).count }

  func observe(_ event: CacheEvent) { state.withLock { $0.append(event) } }

  func wait(count: Int = 1, _ matches: @escaping @Sendable (CacheEvent) -> Bool) async {
    await state.wait { $0.filter(matches).count >= count }
  }
}
