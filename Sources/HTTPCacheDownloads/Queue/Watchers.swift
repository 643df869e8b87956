/// The tasks that watch downloads. A slow one finds the latest snapshot only.
struct Watchers: Sendable {
  private var ofDownloads: [DownloadID: [Int: AsyncStream<DownloadStatus>.Continuation]] = [:]
  private var ofSummary: [Int: AsyncStream<DownloadSummary>.Continuation] = [:]
  private var ofChanges: [Int: Changes] = [:]
  private var lastID = 0

  /// The downloads that changed since a watcher of all changes last asked.
  private struct Changes {
    var ids: Set<DownloadID>
    let signal: AsyncStream<Void>.Continuation
  }

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

  /// Adds a watcher of all changes, which has seen no download so far.
  mutating func add(_ ids: Set<DownloadID>, _ signal: AsyncStream<Void>.Continuation) -> Int {
    lastID += 1
    ofChanges[lastID] = Changes(ids: ids, signal: signal)
    signal.yield()
    return lastID
  }

  /// The downloads that changed since the last call.
  mutating func takeChanges(of watcher: Int) -> Set<DownloadID> {
    guard let ids = ofChanges[watcher]?.ids else { return [] }
    ofChanges[watcher]?.ids = []
    return ids
  }

  mutating func removeChanges(_ watcher: Int) { ofChanges[watcher] = nil }

  mutating func remove(_ watcher: Int, of id: DownloadID?) {
    guard let id else {
      ofSummary[watcher] = nil
      return
    }
    ofDownloads[id]?[watcher] = nil
    if ofDownloads[id]?.isEmpty == true { ofDownloads[id] = nil }
  }

  mutating func tell(_ id: DownloadID, of state: QueueState) {
    if let watchers = ofDownloads[id], let status = state.items[id]?.status {
      for watcher in watchers.values { watcher.yield(status) }
    }
    for watcher in ofSummary.values { watcher.yield(state.summary) }
    for watcher in ofChanges.keys {
      ofChanges[watcher]?.ids.insert(id)
      ofChanges[watcher]?.signal.yield()
    }
  }

  /// The watchers of a download that was removed, for the caller to end outside of its lock.
  mutating func take(_ id: DownloadID) -> [AsyncStream<DownloadStatus>.Continuation] {
    ofDownloads.removeValue(forKey: id).map { Array($0.values) } ?? []
  }

  /// Calls that end all watchers, for the caller to make outside of its lock.
  mutating func takeAll() -> [@Sendable () -> Void] {
    defer {
      ofDownloads = [:]
      ofSummary = [:]
      ofChanges = [:]
    }
    var ends: [@Sendable () -> Void] = []
    for watcher in ofDownloads.values.flatMap(\.values) { ends.append { watcher.finish() } }
    for watcher in ofSummary.values { ends.append { watcher.finish() } }
    for watcher in ofChanges.values { ends.append { watcher.signal.finish() } }
    return ends
  }
}
