public import HTTPCaching
import Synchronization

extension DownloadQueue {
  /// The downloads, in the order in which they would start.
  public var downloads: [DownloadStatus] { withLock { $0.state.ordered.map(\.status) } }

  /// Why the last change could not be written to the list on disk; nil if it was. The next change tries again.
  public var listError: CacheError? { withLock { $0.listError } }

  /// Counts, bytes and rate of all downloads.
  public var summary: DownloadSummary { withLock { $0.state.summary } }

  /// A snapshot of a download; nil if it is not in the list.
  public func status(of id: DownloadID) -> DownloadStatus? {
    withLock { $0.state.items[id]?.status }
  }

  /// The snapshots of a download from now on, the current one first. A reader that is slow gets the latest one
  /// and not those before it. Ends when the download is removed or the queue is closed.
  public func updates(of id: DownloadID) -> AsyncStream<DownloadStatus> {
    stream(of: .download(id)) { shared, _ in shared.state.items[id]?.status }
  }

  /// The snapshots of all downloads together from now on, the current one first. A reader that is slow gets the
  /// latest one and not those before it. Ends when the queue is closed.
  public func summaries() -> AsyncStream<DownloadSummary> {
    stream(of: .summary) { shared, _ in shared.state.summary }
  }

  /// The snapshots of downloads that changed, from now on, all downloads first. A slow reader gets each download
  /// once, as it is now. Ends when the queue is closed or the reading task is cancelled. A removed download is
  /// left out.
  public func changes() -> AsyncStream<[DownloadStatus]> {
    stream(of: .changes(of: withLock { Set($0.state.items.keys) })) { shared, watcher in
      shared.watchers.takeChanges(of: watcher).compactMap { shared.state.items[$0]?.status }
    }
  }

  /// The values that `read` finds at each signal; the stream ends when it finds none.
  private func stream<Element: Sendable>(
    of subject: Watchers.Subject, _ read: @escaping @Sendable (inout Shared, _ watcher: Int) -> Element?
  ) -> AsyncStream<Element> {
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let watcher = withLock { $0.isClosed ? nil : $0.watchers.add(subject, signal) }
    guard let watcher else { return AsyncStream { $0.finish() } }
    signal.onTermination = { [weak self] _ in self?.withLock { $0.watchers.remove(watcher, of: subject) } }
    return AsyncStream { [weak self] in
      for await _ in signals { return self?.withLock { read(&$0, watcher) } ?? nil }
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
