#if AsyncHTTPClient
  import AsyncHTTPClient
  import Logging
  import NIOCore
  import Synchronization

  /// Ends a request with content whose origin neither takes the next piece of the content nor answers for as long as a
  /// limit. The time in which the content's source has to give the next piece does not count.
  final class UploadWatch: Sendable {
    private struct State {
      /// Since when the origin has to act; nil while the source of the content has to.
      var waitsSince: NIODeadline?
      var hasPassed = false
      var hasEnded = false
      var timer: Scheduled<Void>?
    }

    private let limit: TimeAmount
    private let eventLoop: any EventLoop
    private let state: Mutex<State>

    /// Makes a watch; the time of the origin begins now.
    init(limit: TimeAmount, on eventLoop: any EventLoop) {
      self.limit = limit
      self.eventLoop = eventLoop
      state = Mutex(State(waitsSince: eventLoop.now))
    }

    /// Whether the limit has passed.
    var hasPassed: Bool { state.withLock { $0.hasPassed } }

    /// Begins to watch.
    ///
    /// - Parameter onLimit: called once if the limit passes before `end`.
    func begin(onLimit: @escaping @Sendable () -> Void) { look(after: limit, onLimit) }

    /// Ends the watch: the head of the response has arrived, or the request has failed.
    func end() {
      let timer = state.withLock { state in
        state.hasEnded = true
        return state.timer.take()
      }
      timer?.cancel()
    }

    /// The origin has taken all pieces so far, and the source of the content has to give the next one.
    func awaitsSource() { state.withLock { $0.waitsSince = nil } }

    /// The origin has to take a piece, or to answer.
    func awaitsOrigin() {
      let now = eventLoop.now
      state.withLock { $0.waitsSince = now }
    }

    private func look(after time: TimeAmount, _ onLimit: @escaping @Sendable () -> Void) {
      let timer: Scheduled<Void> = eventLoop.scheduleTask(in: time) { [weak self] in self?.look(onLimit) }
      let hasEnded = state.withLock { state in
        state.timer = timer
        return state.hasEnded
      }
      if hasEnded { timer.cancel() }
    }

    /// Looks again when the limit may have passed: a timer for each piece would wake the thread of the event loop twice.
    private func look(_ onLimit: @escaping @Sendable () -> Void) {
      let now = eventLoop.now
      let rest = state.withLock { state -> TimeAmount? in
        if state.hasEnded { return nil }
        let rest = state.waitsSince.map { $0 + limit - now } ?? limit
        if rest <= .zero { state.hasPassed = true }
        return rest
      }
      guard let rest else { return }
      if rest > .zero { look(after: rest, onLimit) } else { onLimit() }
    }
  }

  /// The content of a request, which tells a watch whether the origin or the content's source has to act.
  struct WatchedContent<Buffers: AsyncSequence & Sendable>: AsyncSequence, Sendable
  where Buffers.Element == ByteBuffer {
    let buffers: Buffers
    let watch: UploadWatch

    struct AsyncIterator: AsyncIteratorProtocol {
      var iterator: Buffers.AsyncIterator
      let watch: UploadWatch

      mutating func next() async throws -> ByteBuffer? {
        watch.awaitsSource()
        defer { watch.awaitsOrigin() }
        return try await iterator.next()
      }
    }

    func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(iterator: buffers.makeAsyncIterator(), watch: watch)
    }
  }

  extension HTTPClient {
    /// Executes a request, until a deadline or, if there is a watch, as long as the watch allows.
    ///
    /// - Throws: as `execute(_:deadline:logger:)`; `HTTPClientError.deadlineExceeded` at the limit of the watch, too.
    func execute(
      _ request: HTTPClientRequest, deadline: NIODeadline, logger: Logger?, watchedBy watch: UploadWatch?
    ) async throws -> HTTPClientResponse {
      guard let watch else { return try await execute(request, deadline: deadline, logger: logger) }
      let work = _Concurrency.Task {
        try await execute(request, deadline: .now() + .hours(24 * 365), logger: logger)
      }
      watch.begin { work.cancel() }
      defer { watch.end() }
      do {
        return try await withTaskCancellationHandler {
          try await work.value
        } onCancel: {
          work.cancel()
        }
      } catch {
        if watch.hasPassed, !_Concurrency.Task.isCancelled { throw HTTPClientError.deadlineExceeded }
        throw error
      }
    }
  }
#endif
