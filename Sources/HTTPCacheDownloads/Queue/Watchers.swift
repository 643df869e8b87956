/// The tasks that watch downloads. A slow one finds the latest snapshot only.
struct Watchers: Sendable {
  typealias Signal = AsyncStream<Void>.Continuation

  private var ofDownloads: [DownloadID: [Int: Mailbox<DownloadStatus>]] = [:]
  private var ofSummary: [Int: Mailbox<DownloadSummary>] = [:]
  /// The downloads that changed.
  private var ofChanges: [Int: Mailbox<Set<DownloadID>>] = [:]
  /// The download that a watcher watches.
  private var watched: [Int: DownloadID] = [:]
  private var due: [Int: Signal] = [:]
  private var ended: [Int: Signal] = [:]
  private var lastID = 0

  /// Adds a watcher of a download.
  ///
  /// - Returns: its number.
  mutating func add(_ mailbox: Mailbox<DownloadStatus>, _ status: DownloadStatus) -> Int {
    lastID += 1
    watched[lastID] = status.id
    ofDownloads[status.id, default: [:]][lastID] = mailbox
    put(status, into: mailbox, of: lastID)
    return lastID
  }

  /// Adds a watcher of all downloads together.
  mutating func add(_ mailbox: Mailbox<DownloadSummary>, _ summary: DownloadSummary) -> Int {
    lastID += 1
    ofSummary[lastID] = mailbox
    put(summary, into: mailbox, of: lastID)
    return lastID
  }

  /// Adds a watcher of changes, which has seen none of `ids` so far.
  mutating func add(_ mailbox: Mailbox<Set<DownloadID>>, _ ids: Set<DownloadID>) -> Int {
    lastID += 1
    ofChanges[lastID] = mailbox
    put(ids, into: mailbox, of: lastID)
    return lastID
  }

  mutating func remove(_ watcher: Int) {
    ofSummary[watcher] = nil
    ofChanges[watcher] = nil
    guard let id = watched.removeValue(forKey: watcher) else { return }
    ofDownloads[id]?[watcher] = nil
    if ofDownloads[id]?.isEmpty == true { ofDownloads[id] = nil }
  }

  /// A download has changed, or was removed: then its watchers come to their end.
  mutating func tell(_ id: DownloadID, of state: QueueState) {
    if let status = state.items[id]?.status {
      for (watcher, mailbox) in ofDownloads[id] ?? [:] { put(status, into: mailbox, of: watcher) }
    } else {
      for (watcher, mailbox) in ofDownloads.removeValue(forKey: id) ?? [:] {
        watched[watcher] = nil
        ended[watcher] = mailbox.signal
      }
    }
    for (watcher, mailbox) in ofSummary { put(state.summary, into: mailbox, of: watcher) }
    for (watcher, mailbox) in ofChanges {
      mailbox.change { $0 = ($0 ?? []).union([id]) }
      due[watcher] = mailbox.signal
    }
  }

  /// The queue was closed.
  mutating func endAll() {
    for (watcher, mailbox) in ofDownloads.values.flatMap(\.self) { ended[watcher] = mailbox.signal }
    for (watcher, mailbox) in ofSummary { ended[watcher] = mailbox.signal }
    for (watcher, mailbox) in ofChanges { ended[watcher] = mailbox.signal }
    (ofDownloads, ofSummary, ofChanges, watched) = ([:], [:], [:], [:])
  }

  /// The call that gives the signals that are due, for the caller to make outside of its lock.
  mutating func takeDue() -> @Sendable () -> Void {
    if due.isEmpty, ended.isEmpty { return {} }
    // In the order in which they were added, so that a simulation makes the same steps each time.
    let signals = due.sorted { $0.key < $1.key }.map(\.value)
    let ended = ended.sorted { $0.key < $1.key }.map(\.value)
    (due, self.ended) = ([:], [:])
    return {
      for signal in signals { signal.yield() }
      for signal in ended { signal.finish() }
    }
  }

  private mutating func put<Value>(_ value: Value, into mailbox: Mailbox<Value>, of watcher: Int) {
    mailbox.change { $0 = value }
    due[watcher] = mailbox.signal
  }
}
