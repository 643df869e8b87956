/// The tasks that watch downloads. A change gives a signal to its watchers; a watcher then reads what is there, so that a
/// slow one finds the latest state only.
struct Watchers: Sendable {
  typealias Signal = AsyncStream<Void>.Continuation

  enum Subject: Sendable {
    case download(DownloadID)
    case summary
    /// All downloads, of which these have changed.
    case changes(of: Set<DownloadID>)
  }

  private var signals: [Int: Signal] = [:]
  private var ofDownloads: [DownloadID: Set<Int>] = [:]
  private var ofSummary: Set<Int> = []
  /// The downloads that changed since a watcher of all changes last asked.
  private var changes: [Int: Set<DownloadID>] = [:]
  private var due: Set<Int> = []
  private var ended: [Signal] = []
  private var lastID = 0

  /// Adds a watcher; its first signal is due at once.
  ///
  /// - Returns: its number.
  mutating func add(_ subject: Subject, _ signal: Signal) -> Int {
    lastID += 1
    signals[lastID] = signal
    due.insert(lastID)
    switch subject {
    case .download(let id): ofDownloads[id, default: []].insert(lastID)
    case .summary: ofSummary.insert(lastID)
    case .changes(let ids): changes[lastID] = ids
    }
    return lastID
  }

  mutating func remove(_ watcher: Int, of subject: Subject) {
    signals[watcher] = nil
    switch subject {
    case .download(let id):
      ofDownloads[id]?.remove(watcher)
      if ofDownloads[id]?.isEmpty == true { ofDownloads[id] = nil }
    case .summary: ofSummary.remove(watcher)
    case .changes: changes[watcher] = nil
    }
  }

  /// The downloads that changed since the last call.
  mutating func takeChanges(of watcher: Int) -> Set<DownloadID> {
    guard let ids = changes[watcher] else { return [] }
    changes[watcher] = []
    return ids
  }

  /// A download has changed.
  mutating func tell(_ id: DownloadID) {
    due.formUnion(ofDownloads[id] ?? [])
    due.formUnion(ofSummary)
    for watcher in changes.keys {
      changes[watcher]?.insert(id)
      due.insert(watcher)
    }
  }

  /// A download was removed.
  mutating func end(_ id: DownloadID) {
    for watcher in ofDownloads.removeValue(forKey: id) ?? [] {
      signals.removeValue(forKey: watcher).map { ended.append($0) }
    }
    tell(id)
  }

  /// The queue was closed.
  mutating func endAll() {
    ended += signals.values
    (signals, ofDownloads, ofSummary, changes) = ([:], [:], [], [:])
  }

  /// The call that gives all signals that are due, for the caller to make outside of its lock.
  mutating func takeDue() -> @Sendable () -> Void {
    if due.isEmpty, ended.isEmpty { return {} }
    // In the order in which they were added, so that a simulation makes the same steps each time.
    let signals = due.sorted().compactMap { self.signals[$0] }
    let ended = ended
    (due, self.ended) = ([], [])
    return {
      for signal in signals { signal.yield() }
      for signal in ended { signal.finish() }
    }
  }
}
