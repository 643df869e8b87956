import HTTPCacheSemantics
import HTTPCaching
import Synchronization

extension DownloadQueue {
  /// Adds a download, behind all others of its priority.
  ///
  /// If the list has a download of the same URL to the same destination, that one is taken: it gets the new
  /// request and settings, and if it has ended or is held, it starts. A file that it made is validated with the
  /// stored ETag or Last-Modified instead of being fetched again.
  ///
  /// A queue has one download for each destination: one of another URL leaves the list for the new one if it has ended, and
  /// is an error, `DownloadError.Code.destinationInUse`, if not.
  ///
  /// - Returns: the identifier of the download.
  /// - Throws: `DownloadError`.
  @discardableResult
  public func add(_ download: Download) throws(DownloadError) -> DownloadID {
    try check(download)
    let result = withLock { state -> Result<(id: DownloadID, removed: Removed?), DownloadError> in
      do throws(DownloadError) { return .success(try add(download, to: &state)) } catch {
        return .failure(error)
      }
    }
    let (id, removed) = try result.get()
    removed.map(finish)
    changed()
    return id
  }

  private func add(
    _ download: Download, to state: inout State
  ) throws(DownloadError) -> (id: DownloadID, removed: Removed?) {
    if state.isClosed { throw DownloadError(.closed, "the queue \(name) is closed") }
    let known = state.downloads.item(inPlaceOf: download)
    if let known, TargetURI.normalized(known.download.url) == TargetURI.normalized(download.url) {
      state.downloads.change(known.id) { item in
        item.download = download
        if item.state.isEnded { item.startAgain() }
        item.release()
      }
      state.watchers.tell(known.id, of: state.downloads)
      return (known.id, nil)
    }
    if let known, !known.state.isEnded { throw DownloadError(destinationOf: known) }
    guard known != nil || state.downloads.items.count < configuration.countLimit else {
      throw DownloadError(.tooMany, "the queue \(name) has \(configuration.countLimit) downloads")
    }
    let removed = known.map { Removed($0.id, from: &state) }
    var id: DownloadID
    repeat { id = DownloadID(rawValue: .random(in: 1 ... .max)) } while state.downloads.items[id] != nil
    let position = state.downloads.nextPosition()
    state.downloads.insert(DownloadItem(id: id, download: download, position: position))
    state.watchers.tell(id, of: state.downloads)
    return (id, removed)
  }

  private func check(_ download: Download) throws(DownloadError) {
    guard download.request.method == .get, TargetURI.parts(of: download.url) != nil else {
      throw DownloadError(.invalidRequest, "\(download.request.method) \(download.url)")
    }
    for mirror in download.mirrors where TargetURI.parts(of: mirror) == nil {
      throw DownloadError(.invalidRequest, "the mirror '\(mirror)' is not an absolute http or https URL")
    }
    if let destination = download.destination, !DestinationFile.isValid(destination) {
      throw DownloadError(.invalidDestination, "'\(destination)' is not an absolute path of a file")
    }
    let item = DownloadItem(id: DownloadID(rawValue: 0), download: download, position: 0)
    if (DownloadRecord.encode(item)?.count ?? .max) > DownloadRecord.longest / 2 {
      throw DownloadError(.invalidRequest, "the request is longer than \(DownloadRecord.longest / 2) bytes")
    }
    if !download.digests.isEmpty, DigestVerifier(download.digests) == nil {
      throw DownloadError(.noDigests, "the trait Crypto is off")
    }
  }

  /// Stops a download until `resume`. The bytes that arrived stay in the cache; a transfer that is nearly
  /// complete, or that another request reads too, may go on.
  public func pause(_ id: DownloadID) {
    stop(id) { $0.state.isEnded ? nil : .paused }
  }

  /// Gives a download up; `resume` starts it again. The bytes that arrived stay in the cache until evicted. The
  /// transfer ends, unless another download or request reads it too. Cancelling a task that waits for a download
  /// (`finished(_:)`, `updates(of:)`) does not cancel the download.
  public func cancel(_ id: DownloadID) {
    stop(id) { item in
      if case .done = item.state { return nil }
      return .cancelled
    }
  }

  /// Starts a paused, cancelled, failed or held download, or one that waits for a retry, at once, with its tries and
  /// its time counted anew.
  public func resume(_ id: DownloadID) {
    let retry = withLock { state -> Task<Void, Never>? in
      state.downloads.change(id) { item in
        item.release()
        switch item.state {
        case .paused, .cancelled, .failed, .waiting:
          item.state = .waiting(.slot)
          (item.tries, item.firstTry, item.changes) = (0, nil, 0)
        case .validating, .receiving, .verifying, .done: break
        }
      }
      state.watchers.tell(id, of: state.downloads)
      return state.retries.removeValue(forKey: id)
    }
    retry?.cancel()
    changed()
  }

  /// Takes a download out of the list, and stops it. Its entry of the cache and its file stay.
  public func remove(_ id: DownloadID) {
    finish(withLock { Removed(id, from: &$0) })
    changed()
  }

  /// Ends what a removed download still does.
  private func finish(_ removed: Removed) {
    removed.part.map(removePart)
    for task in removed.tasks { task.cancel() }
  }

  /// Changes the priority of a download. A running one goes on.
  public func setPriority(_ priority: Int, of id: DownloadID) {
    change(id) { $0.download.priority = priority }
  }

  /// Puts a download before another one, whose priority it gets; nil puts it behind all of its own priority.
  public func move(_ id: DownloadID, before other: DownloadID?) {
    withLock { state in
      state.downloads.move(id, before: other)
      state.watchers.tell(id, of: state.downloads)
    }
    changed()
  }

  /// Changes the limits of transfers at a time; nil leaves a limit. A total of 0 starts none; the limit per host
  /// is at least 1. Running transfers go on.
  public func setLimits(total: Int? = nil, perHost: Int? = nil) {
    withLock { state in
      if let total { state.downloads.totalLimit = max(0, total) }
      if let perHost { state.downloads.perHostLimit = max(1, perHost) }
    }
    changed()
  }

  /// Changes the limit of bytes per second of all transfers together; nil removes it. Takes effect within a
  /// second.
  public func setRateLimit(_ bytesPerSecond: Int64?) { limiter.setRate(bytesPerSecond) }

  private func stop(_ id: DownloadID, _ newState: (DownloadItem) -> DownloadState?) {
    let tasks = withLock { state -> [Task<Void, Never>?] in
      guard let item = state.downloads.items[id], let next = newState(item) else { return [] }
      state.downloads.change(id) { $0.state = next }
      state.watchers.tell(id, of: state.downloads)
      return [state.tasks[id], state.retries.removeValue(forKey: id)]
    }
    for task in tasks { task?.cancel() }
    changed()
  }

  private func change(_ id: DownloadID, _ body: (inout DownloadItem) -> Void) {
    withLock { state in
      state.downloads.change(id, body)
      state.watchers.tell(id, of: state.downloads)
    }
    changed()
  }
}

extension DownloadItem {
  /// The download, held if it waits.
  var held: DownloadItem {
    guard case .waiting = state else { return self }
    var item = self
    item.isHeld = true
    return item
  }

  /// Lets a held download start, with its tries counted anew.
  mutating func release() {
    guard isHeld else { return }
    isHeld = false
    if case .waiting = state { (state, tries, changes) = (.waiting(.slot), 0, 0) }
  }

  /// Puts an ended download back into the list, with what is known of its file.
  mutating func startAgain() {
    state = .waiting(.slot)
    (tries, firstTry, changes, received, furthest, hasBegun) = (0, nil, 0, 0, 0, false)
    usesOneStream = false
  }
}

/// The work that is left when a download was taken out of the list, to be done outside of the lock.
private struct Removed: Sendable {
  /// The download that has left a part.
  let part: DownloadItem?
  let tasks: [Task<Void, Never>]

  init(_ id: DownloadID, from state: inout DownloadQueue.State) {
    // A download that runs removes its part when it has ended; one that never began has none.
    part = state.tasks[id] == nil ? state.downloads.items[id].flatMap { $0.hasBegun ? $0 : nil } : nil
    tasks = [state.tasks[id], state.retries.removeValue(forKey: id)].compactMap(\.self)
    state.downloads.remove(id)
    state.watchers.tell(id, of: state.downloads)
  }
}

extension DownloadError {
  fileprivate init(destinationOf item: DownloadItem) {
    self.init(
      .destinationInUse,
      "the download of \(item.download.url) to \(item.download.destination ?? "") has not ended; remove it, or choose "
        + "another file")
  }
}
