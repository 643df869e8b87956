import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// One body on its way from the origin into the store. Any number of callers read it while it arrives, each at
/// its own pace.
final class Transfer: Sendable {
  /// How a transfer ended, for the request that started it.
  enum End: Sendable {
    case stored(CacheRecord)
    case notStored(CacheError)
    /// The body broke off, and its first bytes are stored to be continued later.
    case kept(CacheRecord)
    /// The body is complete, but does not match its announced length or digest.
    case refused(StorageRefusal)
    case failed(any Error)
    case leftAlone
  }

  struct State {
    var progress: TransferState
    /// The readers that wait for bytes.
    var readers: [Int: OneShot<Void>] = [:]
    /// Set while the fetch waits for its readers.
    var fetch: OneShot<Void>?
    var completion: [OneShot<Void>] = []
    var task: Task<Void, Never>?
    var storedReader: (any BodyReader)?
    var isWiped = false
    var isCommitting = false
  }

  let state: Mutex<State>
  let body: MessageBody
  let writer: any BodyWriter
  private let extent: TransferExtent
  let clock: any CacheClock
  private let executor: (any TaskExecutor)?
  private let entry: IncomingEntry

  /// - Parameters:
  ///   - extent: the octets of the representation that `body` brings.
  ///   - clock: measures how long to wait for slow readers if the store takes no more bytes.
  ///   - executor: runs the tasks of the transfer; nil is Swift's default executor.
  init(
    body: MessageBody, extent: TransferExtent, writer: any BodyWriter, entry: IncomingEntry,
    clock: any CacheClock, executor: (any TaskExecutor)?
  ) {
    state = Mutex(State(progress: TransferState(extent)))
    self.body = body
    self.extent = extent
    self.writer = writer
    self.entry = entry
    self.clock = clock
    self.executor = executor
  }

  /// Starts to fetch.
  func start() {
    let task = Task(executorPreference: executor) { await self.fetch() }
    state.withLock { $0.task = task }
  }

  /// Stops storing; the readers continue. If the response is being committed, waits for the commit.
  func stopStoring() async {
    let isCommitting = state.withLock { state in
      state.isWiped = true
      return state.isCommitting
    }
    if isCommitting { return await ended() }
    stopWriting()
  }

  // Whether the response may be committed. From then on `stopStoring` has to wait.
  private func beginCommit() -> Bool {
    state.withLock { state in
      state.isCommitting = !state.isWiped
      return state.isCommitting
    }
  }

  /// A source that reads along; nil if its first bytes are no longer available.
  ///
  /// - Parameter range: a range of the representation; nil for what the origin sends.
  func makeSource(_ range: Range<Int64>? = nil) -> TransferBodySource? {
    let (reader, isBehind) = state.withLock { state in
      (
        state.progress.addReader(from: range?.lowerBound, to: range?.upperBound),
        state.progress.isAnyoneBehind && state.storedReader == nil
      )
    }
    guard let reader else { return nil }
    let length = range.map { $0.upperBound - $0.lowerBound } ?? body.length
    let source = TransferBodySource(transfer: self, reader: reader, length: length)
    if isBehind {
      // Open bytes that only the store has now: later the writer may be gone.
      do throws(CacheError) { _ = try storedReader() } catch { return nil }
    }
    return source
  }

  // MARK: Fetching

  private func fetch() async {
    var isStoring = true
    var isWrong = false
    var failure: CacheError?
    var verifier = entry.verifier
    var held: BodyBytes?
    var patience = Self.patience
    do {
      while true {
        await waitForReaders(&patience)
        guard let bytes = try await body.source.next() else {
          // A cancelled body ends without an error; it must not pass for complete.
          try Task.checkCancellation()
          break
        }
        let received = state.withLock { $0.progress.received }
        // A Content-Range may end close to the largest position.
        let (end, isOverflow) = received.addingReportingOverflow(Int64(bytes.count))
        if isOverflow || held != nil || end > extent.end ?? .max || end > extent.limit ?? .max {
          throw longer(received)
        }
        verifier?.update(bytes)
        if isStoring {
          do throws(CacheError) {
            try await writer.append(bytes)
          } catch {
            isStoring = false
            failure = error
            stopWriting()
          }
        }
        // The last bytes wait for the commit, so that a reader that has all bytes finds the response stored.
        if end == extent.end { held = bytes } else { publish(bytes) }
      }
      let received = state.withLock { $0.progress.received }
      if let end = extent.end, held == nil, received != end {
        throw shorter(received, than: end)
      }
      if isStoring, let combined = entry.combined,
        let algorithm = try await combined.mismatch(of: storedReader())
      {
        isWrong = true
        stopWriting()
        await entry.discardContinued()
        throw UpstreamError(.protocol, "the parts together do not have their \(algorithm) digest")
      }
      let end = await commit(isStoring: isStoring, failure: failure, verifier)
      finish(.finished(body.trailers), end, publishing: held)
    } catch {
      body.source.cancel()
      if (error as? UpstreamError)?.cause is LengthContradiction { isWrong = true }
      // All bytes have arrived, but their digest was not compared.
      let isUnverified = held != nil && (verifier != nil || entry.combined != nil)
      let kept = await keep(isWorthKeeping: isStoring && !isWrong && !isUnverified)
      let isLeft = state.withLock { !$0.progress.hasReaders }
      finish(.failed(error), kept.map { .kept($0) } ?? (isLeft ? .leftAlone : .failed(error)))
    }
  }

  private func longer(_ received: Int64) -> UpstreamError {
    LengthContradiction(length: (extent.end ?? extent.limit ?? received) - extent.start)
      .error("the body is longer than its Content-Length")
  }

  private func shorter(_ received: Int64, than end: Int64) -> UpstreamError {
    // A request for the rest that brings nothing would bring nothing again.
    let isUseless = entry.isCompletion && received == extent.start
    return UpstreamError(
      .protocol, "the body ended at byte \(received) of \(end)",
      cause: isUseless ? LengthContradiction(length: end - extent.start) : nil)
  }

  /// Stores what arrived before the transfer broke off, if it can be continued later.
  private func keep(isWorthKeeping: Bool) async -> CacheRecord? {
    let isMore = state.withLock { $0.progress.received } > entry.storedPrefix
    guard isWorthKeeping, isMore, beginCommit() else {
      stopWriting()
      return nil
    }
    keepStoredBytesReadable()
    do throws(CacheError) {
      guard let record = try await writer.keep() else { return nil }
      await entry.committed(record)
      return record
    } catch {
      return nil
    }
  }

  private func commit(isStoring: Bool, failure: CacheError?, _ verifier: DigestVerifier?) async -> End {
    if let algorithm = verifier?.mismatch() {
      // The bytes are still the origin's message: readers get them.
      stopWriting()
      return .refused(.digestMismatch(algorithm: algorithm.rawValue))
    }
    guard isStoring, beginCommit() else {
      stopWriting()
      // If it was told to stop, a failure only tells that the writer was abandoned.
      let failure = state.withLock { $0.isWiped } ? nil : failure
      let error = failure ?? entry.wiped
      await entry.notTaken(error)
      return .notStored(error)
    }
    // Followers may still come, and the last bytes may displace bytes in memory that a reader needs.
    keepStoredBytesReadable(always: true)
    do throws(CacheError) {
      let record = try await writer.commit(trailers: entry.storable(trailers: body.trailers))
      await entry.committed(record)
      return .stored(record)
    } catch {
      stopWriting()
      await entry.notTaken(error)
      return .notStored(error)
    }
  }

  private func publish(_ bytes: BodyBytes) {
    let waiting = state.withLock { state in
      state.progress.append(bytes)
      defer { state.readers.removeAll() }
      return Array(state.readers.values)
    }
    for reader in waiting { reader.give(()) }
  }

  /// Reports the end before the last bytes go out, so that a reader that has all bytes finds everything
  /// reported.
  private func finish(
    _ phase: TransferState.Phase, _ end: End, publishing held: BodyBytes? = nil
  ) {
    let received = state.withLock { $0.progress.received } - extent.start
    entry.ended(self, end, received: received + Int64(held?.count ?? 0))
    if let held { publish(held) }
    let (waiting, completion) = state.withLock { state in
      state.progress.end(phase)
      defer {
        state.readers.removeAll()
        state.completion.removeAll()
      }
      return (Array(state.readers.values), state.completion)
    }
    for waiter in waiting + completion { waiter.give(()) }
  }

  // How long to wait for slow readers if the store takes no more bytes: in all, and per wait. Less than most
  // origins wait for their client.
  private static let (patience, patienceAtOnce) = (Duration.seconds(60), Duration.seconds(20))

  private func waitForReaders(_ patience: inout Duration) async {
    guard state.withLock({ $0.progress.isHeldBack }) else { return await waitUntilRead() }
    let start = clock.uptime
    let limit = min(patience, Self.patienceAtOnce)
    let end = Task(executorPreference: executor) { [clock] in
      do { try await clock.sleep(for: limit) } catch { return }
      let fetch = self.state.withLock { state -> OneShot<Void>? in
        // A reader may have read it at this moment.
        guard !Task.isCancelled else { return nil }
        state.progress.dropSlowReaders()
        return Self.releaseFetch(&state)
      }
      fetch?.give(())
    }
    await waitUntilRead()
    end.cancel()
    patience = max(.zero, patience - (clock.uptime - start))
  }

  private func waitUntilRead() async {
    let fetch = state.withLock { state in
      state.fetch = state.progress.isAhead ? OneShot() : nil
      return state.fetch
    }
    await fetch?.take()
  }

  static func releaseFetch(_ state: inout State) -> OneShot<Void>? {
    state.progress.isAhead ? nil : state.fetch.take()
  }
}
