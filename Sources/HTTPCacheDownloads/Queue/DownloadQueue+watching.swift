public import HTTPCaching
import Synchronization

extension DownloadQueue {
  /// The downloads, in the order in which they would start.
  public var downloads: [DownloadStatus] { withLock { $0.downloads.ordered.map(\.status) } }

  /// Why the last change could not be written to the list on disk; nil if it was. The next change tries again.
  public var listError: CacheError? { withLock { $0.listError } }

  /// Counts, bytes and rate of all downloads.
  public var summary: DownloadSummary { withLock { $0.downloads.summary } }

  /// A snapshot of a download; nil if it is not in the list.
  public func status(of id: DownloadID) -> DownloadStatus? {
    withLock { $0.downloads.items[id]?.status }
  }

  /// The snapshots of a download from now on, the current one first. A reader that is slow gets the latest one
  /// and not those before it. Ends when the download is removed or the queue is closed.
  public func updates(of id: DownloadID) -> AsyncStream<DownloadStatus> {
    stream { state, mailbox in
      state.downloads.items[id].map { state.watchers.add(mailbox, $0.status) }
    } read: {
      $0
    }
  }

  /// The snapshots of all downloads together from now on, the current one first. A reader that is slow gets the
  /// latest one and not those before it. Ends when the queue is closed.
  public func summaries() -> AsyncStream<DownloadSummary> {
    stream { state, mailbox in
      state.watchers.add(mailbox, state.downloads.summary)
    } read: {
      $0
    }
  }

  /// The snapshots of downloads that changed, from now on, all downloads first. A slow reader gets each download
  /// once, as it is now. Ends when the queue is closed or the reading task is cancelled. A removed download is
  /// left out.
  public func changes() -> AsyncStream<[DownloadStatus]> {
    stream { (state: inout State, mailbox: Mailbox<Set<DownloadID>>) in
      state.watchers.add(mailbox, Set(state.downloads.items.keys))
    } read: { [weak self] ids in
      self?.withLock { state in ids.compactMap { state.downloads.items[$0]?.status } } ?? []
    }
  }

  /// The values that come into a mailbox, each of them as it is read, in a stream that ends with the watcher.
  ///
  /// - Parameter add: adds the watcher and returns its number, or nil if there is nothing to watch.
  private func stream<Value: Sendable, Element: Sendable>(
    _ add: (inout State, Mailbox<Value>) -> Int?, read: @escaping @Sendable (Value) -> Element
  ) -> AsyncStream<Element> {
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let mailbox = Mailbox<Value>(signal)
    let watcher = withLock { $0.isClosed ? nil : add(&$0, mailbox) }
    guard let watcher else { return AsyncStream { $0.finish() } }
    signal.onTermination = { [weak self] _ in self?.withLock { $0.watchers.remove(watcher) } }
    return AsyncStream {
      for await _ in signals {
        if let value = mailbox.take() { return read(value) }
      }
      // The last value may have come with the end.
      return mailbox.take().map(read)
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
