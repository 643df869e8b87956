import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// One body on its way from the origin into the store, read by any number of callers while it
/// arrives, each at its own pace.
final class Transfer: Sendable {
  /// How a transfer ended, for whoever started it.
  enum End: Sendable {
    case stored(CacheRecord)
    case notStored(CacheError)
    /// It broke off, and what arrived is stored, to be continued.
    case kept(CacheRecord)
    /// It is complete, but not what it said it would be.
    case refused(StorageRefusal)
    case failed(any Error)
    case leftAlone
    /// Nothing may be kept of it, nor of its end.
    case wiped
  }

  struct Shared {
    var state: TransferState
    var readers: [Int: CheckedContinuation<Void, Never>] = [:]
    var fetch: CheckedContinuation<Void, Never>?
    var completion: [CheckedContinuation<Void, Never>] = []
    var task: Task<Void, Never>?
    var storedReader: (any BodyReader)?
    var isWiped = false
    var isCommitting = false
  }

  let shared: Mutex<Shared>
  let body: MessageBody
  let writer: any BodyWriter
  private let extent: TransferExtent
  private let clock: any CacheClock
  private let executor: (any TaskExecutor)?
  private let verifier: DigestVerifier?
  private let combined: CombinedDigest?
  private let storableTrailers: @Sendable (HTTPFields) -> HTTPFields
  private let onCommit: @Sendable (CacheRecord) async -> Void
  private let onEnd: @Sendable (Transfer, End, _ received: Int64) -> Void

  /// - Parameters:
  ///   - extent: what of the representation `body` brings.
  ///   - clock: by which slow readers are waited for where the store takes no more.
  ///   - executor: runs the tasks of the transfer; nil is Swift's own executor.
  ///   - verifier: what the bytes of `body` must agree with to be stored.
  ///   - combined: what they must agree with together with what is stored.
  ///   - storableTrailers: leaves the trailer fields that may be stored.
  init(
    body: MessageBody, extent: TransferExtent, writer: any BodyWriter,
    clock: any CacheClock = SystemClock(), executor: (any TaskExecutor)? = nil,
    verifier: DigestVerifier? = nil,
    combined: CombinedDigest? = nil,
    storableTrailers: @escaping @Sendable (HTTPFields) -> HTTPFields = { $0 },
    onCommit: @escaping @Sendable (CacheRecord) async -> Void,
    onEnd: @escaping @Sendable (Transfer, End, _ received: Int64) -> Void
  ) {
    shared = Mutex(Shared(state: TransferState(extent)))
    self.body = body
    self.extent = extent
    self.writer = writer
    self.clock = clock
    self.executor = executor
    self.verifier = verifier
    self.combined = combined
    self.storableTrailers = storableTrailers
    self.onCommit = onCommit
    self.onEnd = onEnd
  }

  /// Starts to fetch.
  func start() {
    let task = Task(executorPreference: executor) { await self.fetch() }
    shared.withLock { $0.task = task }
  }

  /// Stores nothing of it; whoever reads it goes on. If it is being committed, waits for that.
  func stopStoring() async {
    let isCommitting = shared.withLock { shared in
      shared.isWiped = true
      return shared.isCommitting
    }
    if isCommitting { return await ended() }
    stopWriting()
  }

  // Whether it may be stored; from then on it is too late to stop it.
  private func beginCommit() -> Bool {
    shared.withLock { shared in
      shared.isCommitting = !shared.isWiped
      return shared.isCommitting
    }
  }

  /// A body that reads along; nil if its first bytes can no longer be had.
  ///
  /// - Parameter range: of the representation; nil for what the origin sends.
  func makeBody(_ range: Range<Int64>? = nil) -> MessageBody? { makeSource(range).map { MessageBody($0) } }

  /// A source that reads along; nil if its first bytes can no longer be had.
  ///
  /// - Parameter range: of the representation; nil for what the origin sends.
  func makeSource(_ range: Range<Int64>? = nil) -> TransferBodySource? {
    let (reader, isBehind) = shared.withLock { shared in
      (
        shared.state.addReader(from: range?.lowerBound, to: range?.upperBound),
        shared.state.isAnyoneBehind && shared.storedReader == nil
      )
    }
    guard let reader else { return nil }
    let length = range.map { $0.upperBound - $0.lowerBound } ?? body.length
    let source = TransferBodySource(transfer: self, reader: reader, length: length)
    if isBehind {
      // Bytes that only the store has are opened now: later the writer may be gone.
      do throws(CacheError) { _ = try storedReader() } catch { return nil }
    }
    return source
  }

  /// Waits until the transfer has ended, stored or not.
  func ended() async {
    await withCheckedContinuation { continuation in
      let isOver = shared.withLock { shared in
        guard shared.state.isRunning else { return true }
        shared.completion.append(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  // MARK: Fetching

  private func fetch() async {
    var isStoring = true
    var isWrong = false
    var failure: CacheError?
    var verifier = verifier
    var held: BodyBytes?
    var patience = Self.patience
    do {
      while true {
        await waitForReaders(&patience)
        guard let bytes = try await body.source.next() else {
          // A body that was cancelled ends without an error; it must not pass for complete.
          try Task.checkCancellation()
          break
        }
        let received = shared.withLock { $0.state.received }
        let end = received + Int64(bytes.count)
        if held != nil || end > extent.end ?? .max || end > extent.limit ?? .max {
          isWrong = true
          throw UpstreamError(.protocol, "the body is longer than its Content-Length")
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
        // The last bytes wait for the commit, so that whoever has them finds the response stored.
        if end == extent.end { held = bytes } else { publish(bytes) }
      }
      let received = shared.withLock { $0.state.received }
      if let end = extent.end, held == nil, received != end {
        throw UpstreamError(.protocol, "the body ended at byte \(received) of \(end)")
      }
      if isStoring, let combined, let algorithm = try await combined.mismatch(of: storedReader()) {
        isWrong = true
        stopWriting()
        await combined.discard()
        throw UpstreamError(.protocol, "the parts together do not have their \(algorithm) digest")
      }
      let end: End
      if let algorithm = verifier?.mismatch() {
        // The bytes are the origin's message all the same: whoever reads them gets them.
        stopWriting()
        end = .refused(.digestMismatch(algorithm: algorithm.rawValue))
      } else {
        end = await commit(isStoring: isStoring, failure: failure)
      }
      finish(.finished(body.trailers), end, publishing: held)
    } catch {
      body.source.cancel()
      // All of it is there, but nobody has compared it with its digest.
      let isUnverified = held != nil && (verifier != nil || combined != nil)
      let kept = await keep(isWorthKeeping: isStoring && !isWrong && !isUnverified)
      let isLeft = shared.withLock { !$0.state.hasReaders }
      finish(.failed(error), kept.map { .kept($0) } ?? (isLeft ? .leftAlone : .failed(error)))
    }
  }

  /// Stores what arrived before the transfer broke off, if it can be continued.
  private func keep(isWorthKeeping: Bool) async -> CacheRecord? {
    guard isWorthKeeping, beginCommit() else {
      stopWriting()
      return nil
    }
    keepStoredBytesReadable()
    do throws(CacheError) {
      guard let record = try await writer.keep() else { return nil }
      await onCommit(record)
      return record
    } catch {
      return nil
    }
  }

  private func commit(isStoring: Bool, failure: CacheError?) async -> End {
    guard isStoring, beginCommit() else {
      stopWriting()
      return .notStored(failure ?? CacheError(.io, "the store took no more bytes"))
    }
    // Followers may still come, and the last bytes may push others out that a reader needs.
    keepStoredBytesReadable(always: true)
    do throws(CacheError) {
      let record = try await writer.commit(trailers: storableTrailers(body.trailers))
      await onCommit(record)
      return .stored(record)
    } catch {
      stopWriting()
      return .notStored(error)
    }
  }

  private func publish(_ bytes: BodyBytes) {
    let waiting = shared.withLock { shared in
      shared.state.append(bytes)
      defer { shared.readers.removeAll() }
      return Array(shared.readers.values)
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Tells how it ended before the last bytes go out: whoever has them finds everything told.
  private func finish(
    _ phase: TransferState.Phase, _ end: End, publishing held: BodyBytes? = nil
  ) {
    let (received, isGone) = shared.withLock {
      ($0.state.received - extent.start, $0.isWiped && !$0.isCommitting)
    }
    onEnd(self, isGone ? .wiped : end, received + Int64(held?.count ?? 0))
    if let held { publish(held) }
    let waiting = shared.withLock { shared in
      shared.state.end(phase)
      let waiting = Array(shared.readers.values) + shared.completion
      shared.readers.removeAll()
      shared.completion.removeAll()
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  // How long slow readers are waited for in all where the store takes no more, and at once: less than most
  // origins wait for us.
  private static let (patience, patienceAtOnce) = (Duration.seconds(60), Duration.seconds(20))

  private func waitForReaders(_ patience: inout Duration) async {
    guard shared.withLock({ $0.state.isHeldBack }) else { return await waitUntilRead() }
    let start = clock.uptime
    let limit = min(patience, Self.patienceAtOnce)
    let end = Task(executorPreference: executor) { [clock] in
      do { try await clock.sleep(for: limit) } catch { return }
      let fetch = self.shared.withLock { shared -> CheckedContinuation<Void, Never>? in
        // It may have been read in the same moment.
        guard !Task.isCancelled else { return nil }
        shared.state.dropSlowReaders()
        return Self.releaseFetch(&shared)
      }
      fetch?.resume()
    }
    await waitUntilRead()
    end.cancel()
    patience = max(.zero, patience - (clock.uptime - start))
  }

  private func waitUntilRead() async {
    await withCheckedContinuation { continuation in
      let mustWait = shared.withLock { shared in
        guard shared.state.isAhead else { return false }
        shared.fetch = continuation
        return true
      }
      if !mustWait { continuation.resume() }
    }
  }

  static func releaseFetch(_ shared: inout Shared) -> CheckedContinuation<Void, Never>? {
    shared.state.isAhead ? nil : shared.fetch.take()
  }
}
