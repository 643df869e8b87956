/// The tasks that watch downloads. A slow one finds the latest snapshot only.
struct Watchers: Sendable {
  private var ofDownloads: [DownloadID: [Int: AsyncStream<DownloadStatus>.Continuation]] = [:]
  private var ofSummary: [Int: AsyncStream<DownloadSummary>.Continuation] = [:]
  private var lastID = 0

  mutating func add(_ id: DownloadID, _ continuation: AsyncStream<DownloadStatus>.Continuation) -> Int {
    lastID += 1
    ofDownloads[id, default: [:]][lastID] = continuation
    return lastID
  }

  mutating func add(_ continuation: AsyncStream<DownloadSummary>.Continuation) -> Int {
    lastID += 1
    ofSummary[lastID] = continuation
    return lastID
  }

  mutating func remove(_ watcher: Int, of id: DownloadID?) {
    guard let id else {
      ofSummary[watcher] = nil
      return
    }
    ofDownloads[id]?[watcher] = nil
    if ofDownloads[id]?.isEmpty == true { ofDownloads[id] = nil }
  }

  func tell(_ id: DownloadID, of state: QueueState) {
    if let watchers = ofDownloads[id], let status = state.items[id]?.status {
      for watcher in watchers.values { watcher.yield(status) }
    }
    for watcher in ofSummary.values { watcher.yield(state.summary) }
  }

  /// The watchers of a download that was removed, for the caller to end outside of its lock.
  mutating func take(_ id: DownloadID) -> [AsyncStream<DownloadStatus>.Continuation] {
    ofDownloads.removeValue(forKey: id).map { Array($0.values) } ?? []
  }

  mutating func takeAll() -> (
    [AsyncStream<DownloadStatus>.Continuation], [AsyncStream<DownloadSummary>.Continuation]
  ) {
    defer {
      ofDownloads = [:]
      ofSummary = [:]
    }
    return (ofDownloads.values.flatMap(\.values), Array(ofSummary.values))
  }
}
