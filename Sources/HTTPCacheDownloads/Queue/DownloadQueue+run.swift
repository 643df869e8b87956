import HTTPCaching
import Synchronization

extension DownloadQueue {
  /// Saves the list and starts what may start.
  func changed() {
    save()
    startDue()
  }

  /// Starts the downloads that have a slot.
  func startDue() {
    withLock { state in
      guard !state.isClosed else { return }
      for item in state.downloads.takeStarting() {
        state.downloads.change(item.id, isSaved: item.firstTry == nil) {
          if $0.firstTry == nil { $0.firstTry = clock.now }
        }
        state.watchers.tell(item.id, of: state.downloads)
        state.tasks[item.id] = Task { await self.run(item) }
      }
    }
  }

  private func run(_ item: DownloadItem) async {
    let id = item.id
    let attempt = DownloadAttempt(
      item: item, cache: cache, upstream: upstream, limiter: limiter, configuration: configuration,
      tell: { [self] in heard($0, of: id) })
    ended(item, await attempt.run())
  }

  /// Removes the part file of a removed download.
  func removePart(of item: DownloadItem) {
    if case .done = item.state { return }
    guard let destination = item.download.destination, let part = PartFile(existingBeside: destination),
      part.record?.belongs(to: item.download.request) == true
    else { return }
    part.discard()
  }

  /// An attempt tells how far it is. A download that was told to stop keeps its state, but must know its own file.
  private func heard(_ news: AttemptNews, of id: DownloadID) {
    var mustSave = false
    withLock { state in
      guard let item = state.downloads.items[id] else { return }
      guard item.state.isRunning || news.isPlacing else { return }
      switch news {
      case .state(let next):
        state.downloads.change(id, isSaved: false) { $0.state = next }
      case .head(let validators, let expected, let restart):
        mustSave = true
        state.downloads.change(id) { $0.begin(validators, expected: expected, restart: restart) }
      case .progress(let progress):
        state.downloads.change(id, isSaved: false) {
          $0.received = progress.received
          $0.rate = progress.rate
        }
      case .placing(let placed):
        mustSave = true
        state.downloads.change(id) { $0.placed = placed }
      case .oneStream(let isRestart):
        state.downloads.change(id) { item in
          item.usesOneStream = true
          if isRestart {
            (item.restarts, item.lastRestart) = (item.restarts + 1, .rangeIgnored)
            (item.received, item.furthest) = (0, 0)
          }
        }
      }
      state.watchers.tell(id, of: state.downloads)
    }
    if mustSave { save() }
  }

  private func ended(_ ended: DownloadItem, _ end: AttemptEnd) {
    let id = ended.id
    let isRemoved = withLock { state in
      state.tasks[id] = nil
      let now = clock.now
      state.downloads.change(id) { item in
        apply(end, of: ended, to: &item, now: now)
      }
      state.downloads.ended(id)
      if let item = state.downloads.items[id] { scheduleRetry(of: item, now: now, &state) }
      state.watchers.tell(id, of: state.downloads)
      return state.downloads.items[id] == nil
    }
    if isRemoved { removePart(of: ended) }
    changed()
  }

  private func apply(
    _ end: AttemptEnd, of attempt: DownloadItem, to item: inout DownloadItem, now: Timestamp
  ) {
    switch end {
    case .done(let source, let received):
      if item.download.digests == attempt.download.digests {
        item.state = .done(source)
      } else if item.state.isRunning {
        // The attempt did not check digests that were added while it ran: the next one checks the file.
        item.state = .waiting(.slot)
      }
      item.received = received
      item.expected = received
      (item.tries, item.hasBegun, item.furthest) = (0, false, 0)
    case .stopped(let bytes):
      item.count(bytes)
      // The queue was closed, not this download stopped: the next process goes on.
      if item.state.isRunning { item.state = .waiting(.slot) }
    case .offline(let bytes):
      item.count(bytes)
      if item.state.isRunning { item.state = .waiting(.network) }
    case .notKept:
      if item.writesDirectly, item.state.isRunning {
        item.state = .failed(DownloadFailure(.notStored, "the cache did not keep the response"))
      } else {
        item.writesDirectly = true
        if item.state.isRunning { item.state = .waiting(.slot) }
      }
    case .failed(let failure, let retryAfter, let bytes):
      let isProgress = item.count(bytes)
      item.tries = isProgress ? 1 : item.tries + 1
      guard item.state.isRunning else { return }
      item.state = RetryPolicy(configuration: configuration).state(
        of: item, after: failure, retryAfter: retryAfter, now: now)
    }
  }

  /// Wakes a download that waits for a time. The tasks keep the queue, which works until `close()` cancels them.
  func scheduleRetry(of item: DownloadItem, now: Timestamp, _ state: inout State) {
    guard !state.isClosed, !item.isHeld else { return }
    let id = item.id
    if item.state == .waiting(.network) {
      state.retries[id] = Task {
        repeat {
          do { try await clock.sleep(for: .seconds(5)) } catch { return }
        } while !cache.isOnline
        retryIsDue(id)
      }
      return
    }
    guard case .waiting(.retry(let time, _)) = item.state else { return }
    let wait = RetryPolicy(configuration: configuration).remaining(until: time, now: now)
    state.retries[id] = Task {
      do { try await clock.sleep(for: .seconds(wait)) } catch { return }
      retryIsDue(id)
    }
  }

  private func retryIsDue(_ id: DownloadID) {
    withLock { state in
      state.retries[id] = nil
      switch state.downloads.items[id]?.state {
      case .waiting(.retry), .waiting(.network): break
      default: return
      }
      state.downloads.change(id, isSaved: false) { $0.state = .waiting(.slot) }
      state.watchers.tell(id, of: state.downloads)
    }
    startDue()
  }

  /// Stops all attempts, and lets another process open the queue. Downloads that were waiting or running go on
  /// when the queue is opened next.
  public func close() async {
    let (tasks, requests) = withLock { state in
      state.isClosed = true
      let tasks = Array(state.tasks.values) + Array(state.retries.values)
      state.retries = [:]
      state.watchers.endAll()
      return (tasks, state.requests.take())
    }
    requests?.close()
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    save()
    list?.close()
  }

  /// Writes what changed to the list on disk.
  func save() {
    guard let list else { return withLock { $0.downloads.unsaved = [] } }
    var failure: CacheError?
    do throws(CacheError) {
      try list.save(
        { withLock { $0.downloads.takeUnsaved() } },
        all: { withLock { Array($0.downloads.items.values) } })
    } catch { failure = error }
    withLock { $0.listError = failure }
  }
}

extension DownloadItem {
  /// The head of a response with the file arrived.
  mutating func begin(
    _ validators: ResponseValidators, expected: Int64?, restart: DownloadRestart?
  ) {
    if let restart {
      restarts += 1
      lastRestart = restart
      received = 0
      if restart == .changed {
        changes += 1
        furthest = 0
      }
    }
    self.validators = validators
    self.expected = expected
    hasBegun = true
  }

  /// Counts the bytes of an attempt.
  ///
  /// - Returns: whether it came further than any attempt before.
  @discardableResult
  mutating func count(_ bytes: AttemptBytes) -> Bool {
    received = bytes.kept
    guard bytes.reached > furthest else { return false }
    furthest = bytes.reached
    return true
  }
}
