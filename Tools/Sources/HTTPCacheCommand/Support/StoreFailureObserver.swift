import HTTPCacheProxy
import HTTPCaching
import Synchronization

/// Reports storage errors, once a minute for each kind of operation: a full disk must not fill the log as
/// well.
final class StoreFailureObserver: CacheObserver {
  private let told = Mutex<[String: Duration]>([:])
  private let clock: any CacheClock
  private let hasMemory: Bool
  private let tell: @Sendable (String) -> Void

  /// - Parameter hasMemory: whether responses are also stored in memory.
  init(clock: any CacheClock, hasMemory: Bool, tell: @escaping @Sendable (String) -> Void) {
    self.clock = clock
    self.hasMemory = hasMemory
    self.tell = tell
  }

  func observe(_ event: CacheEvent) {
    if case .encryption(let notice) = event { return tell("\(notice)") }
    if case .capacityChanged(let old, let new, let usage) = event {
      return tell(HumanText.capacityChange(from: old, to: new, usage: usage))
    }
    if case .fleet(let event) = event {
      if event.isForOperators { tell("\(event)") }
      return
    }
    guard case .storeFailed(let operation, let error) = event else { return }
    // An entry that was evicted meanwhile is nothing to report.
    if event.isOfOneEntry, error.code != .damaged { return }
    let now = clock.uptime
    let isDue = told.withLock { told in
      if let last = told[operation], now - last < .seconds(60) { return false }
      told[operation] = now
      return true
    }
    if isDue, event.isOfOneEntry {
      tell("a stored response is damaged, and is asked for again (\(operation): \(error))")
    } else if isDue {
      tell(HumanText.storeFailure(error, during: operation, hasMemory: hasMemory))
    }
  }
}

/// Writes each event of the cache as a line.
struct LineObserver: CacheObserver {
  let writer: LineWriter

  func observe(_ event: CacheEvent) { writer.add("httpcache: \(event)\n") }
}

extension FleetEvent {
  /// Whether an operator wants to know of it in a log that has no single requests and changes.
  fileprivate var isForOperators: Bool {
    switch self {
    case .connected, .disconnected, .invalidatedAll: true
    case .applied, .published, .notPublished, .failed: false
    @unknown default: false
    }
  }
}
