import Synchronization

/// Tells subscribers of each finished request.
final class RequestFeed: Sendable {
  /// The most requests that wait for a slow subscriber; of more, the oldest are dropped.
  private static let buffer = 1_000

  private struct Subscribers {
    var next = 0
    var streams: [Int: AsyncStream<AccessLog.Entry>.Continuation] = [:]
  }

  private let subscribers = Mutex(Subscribers())
  // Requests without subscribers, which are almost all, take no lock that event loops share.
  private let count = Atomic<Int>(0)

  /// The requests that finish from now on.
  func subscribe() -> AsyncStream<AccessLog.Entry> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: AccessLog.Entry.self, bufferingPolicy: .bufferingNewest(Self.buffer))
    let key = subscribers.withLock { subscribers in
      subscribers.next += 1
      subscribers.streams[subscribers.next] = continuation
      count.store(subscribers.streams.count, ordering: .relaxed)
      return subscribers.next
    }
    continuation.onTermination = { [weak self] _ in self?.remove(key) }
    return stream
  }

  /// Passes a request on.
  func send(_ entry: AccessLog.Entry) {
    guard count.load(ordering: .relaxed) > 0 else { return }
    var entry = entry
    // The fields of the log's template may be long, and many entries may wait.
    entry.fields = []
    for stream in subscribers.withLock({ $0.streams.values.map { $0 } }) { stream.yield(entry) }
  }

  private func remove(_ key: Int) {
    // The stream is released outside of the lock: its end calls this function.
    let ended = subscribers.withLock { subscribers in
      defer { count.store(subscribers.streams.count, ordering: .relaxed) }
      return subscribers.streams.removeValue(forKey: key)
    }
    withExtendedLifetime(ended) {}
  }
}
