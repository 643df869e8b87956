public import HTTPCaching
import Synchronization

extension DownloadQueue {
  /// The downloads, in the order in which they would start.
  public var downloads: [DownloadStatus] { shared.withLock { $0.state.ordered.map(\.status) } }

  /// Why the last change could not be written to the list on disk; nil if it was. The next change tries again.
  public var listError: CacheError? { shared.withLock { $0.listError } }

  /// Counts, bytes and rate of all downloads.
  public var summary: DownloadSummary { shared.withLock { $0.state.summary } }

  /// A snapshot of a download; nil if it is not in the list.
  public func status(of id: DownloadID) -> DownloadStatus? {
    shared.withLock { $0.state.items[id]?.status }
  }

  /// The snapshots of a download from now on, the current one first. A reader that is slow gets the latest one
  /// and not those before it. Ends when the download is removed or the queue is closed.
  public func updates(of id: DownloadID) -> AsyncStream<DownloadStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let watcher = shared.withLock { shared -> Int? in
        guard !shared.isClosed, let status = shared.state.items[id]?.status else { return nil }
        continuation.yield(status)
        return shared.watchers.add(id, continuation)
      }
      guard let watcher else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        self?.shared.withLock { $0.watchers.remove(watcher, of: id) }
      }
    }
  }

  /// The snapshots of all downloads together from now on, the current one first. A reader that is slow gets the
  /// latest one and not those before it. Ends when the queue is closed.
  public func summaries() -> AsyncStream<DownloadSummary> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let watcher = shared.withLock { shared -> Int? in
        guard !shared.isClosed else { return nil }
        continuation.yield(shared.state.summary)
        return shared.watchers.add(continuation)
      }
      guard let watcher else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        self?.shared.withLock { $0.watchers.remove(watcher, of: nil) }
      }
    }
  }

  /// The snapshots of downloads that changed, from now on, all downloads first. A slow reader gets each download
  /// once, as it is now. Ends when the queue is closed or the reading task is cancelled. A removed download is
  /// left out.
  public func changes() -> AsyncStream<[DownloadStatus]> {
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let watcher = shared.withLock { shared -> Int? in
      shared.isClosed ? nil : shared.watchers.add(Set(shared.state.items.keys), signal)
    }
    guard let watcher else { return AsyncStream { $0.finish() } }
    signal.onTermination = { [weak self] _ in
      self?.shared.withLock { $0.watchers.removeChanges(watcher) }
    }
    return AsyncStream { [weak self] in
      for await _ in signals {
        return self?.shared.withLock { shared in
          shared.watchers.takeChanges(of: watcher).compactMap { shared.state.items[$0]?.status }
        }
      }
      return nil
    }
  }

  /// Waits until a download is done, failed or cancelled. Cancelling the waiting task ends the wait; the download
  /// goes on.
  ///
  /// - Returns: its last snapshot; nil if it is not in the list, or was removed, if the queue was closed, or if the
  ///   waiting task was cancelled.
  public func finished(_ id: DownloadID) async -> DownloadStatus? {
    for await status in updates(of: id) where status.state.isEnded { return status }
    return nil
  }
}
