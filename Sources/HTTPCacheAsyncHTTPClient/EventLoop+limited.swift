#if AsyncHTTPClient
  import AsyncHTTPClient
  import NIOCore
  import Synchronization

  extension EventLoop {
    /// Runs `work` in a task, which is cancelled with the caller's task, and when no time is left. Event loops forget a
    /// timer that is cancelled; that of a sleeping task would stay until the limit.
    ///
    /// - Parameter timeLeft: asked again when the time that it gave has passed: a timer for each change would wake the
    ///   thread of the event loop twice.
    /// - Throws: what `work` throws; `HTTPClientError.deadlineExceeded` if no time was left.
    func limited<Value: Sendable>(
      timeLeft: @escaping @Sendable () -> TimeAmount, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
      let task = Task { try await work() }
      let isLate = Atomic(false)
      let timer = Mutex<Scheduled<Void>?>(nil)
      @Sendable func look() {
        guard !task.isCancelled else { return }
        let left = timeLeft()
        guard left > .zero else {
          isLate.store(true, ordering: .sequentiallyConsistent)
          return task.cancel()
        }
        let next = scheduleTask(in: left) { look() }
        timer.withLock { $0 = next }
        // The work may have ended meanwhile.
        if task.isCancelled { timer.withLock { $0.take() }?.cancel() }
      }
      look()
      defer {
        // Also for a `look` that is running, and sets one more timer.
        task.cancel()
        timer.withLock { $0.take() }?.cancel()
      }
      do {
        return try await withTaskCancellationHandler {
          try await task.value
        } onCancel: {
          task.cancel()
        }
      } catch {
        if isLate.load(ordering: .sequentiallyConsistent), !Task.isCancelled {
          throw HTTPClientError.deadlineExceeded
        }
        throw error
      }
    }
  }
#endif
