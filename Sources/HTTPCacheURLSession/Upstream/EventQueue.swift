import Dispatch
import Synchronization

/// The queue on which a session delivers its events.
///
/// Foundation on Linux adds an operation for every 16 KiB. Handling them is much slower than receiving, so
/// hundreds of MiB pile up in its queue. Here an event is cheap, and while many wait, the receiving thread
/// waits a moment too. Never for long: an event's handler may be waiting for that thread.
final class EventQueue: OperationQueue, @unchecked Sendable {
  // @unchecked Sendable because its own state is constant or atomic; OperationQueue is thread-safe.

  /// Events of at most 16 KiB each.
  private static let limit = 64
  private static let patience = 20

  private let queue = DispatchQueue(label: "swift-http-cache.events")
  private let waiting = Atomic<Int>(0)

  override func addOperation(_ block: @escaping @Sendable () -> Void) {
    waiting.add(1, ordering: .relaxed)
    queue.async { [self] in
      block()
      waiting.subtract(1, ordering: .relaxed)
    }
    var left = Self.patience
    while left > 0, waiting.load(ordering: .relaxed) > Self.limit {
      Thread.sleep(forTimeInterval: 0.001)
      left -= 1
    }
  }
}
