#if AsyncHTTPClient
  import NIOCore
  import Synchronization

  /// Calls a closure at a deadline, unless it is cancelled before.
  final class DeadlineAlarm: Sendable {
    private let passed = Mutex(false)
    private let scheduled = Mutex<Scheduled<Void>?>(nil)

    /// Whether the deadline has passed.
    var hasPassed: Bool { passed.withLock { $0 } }

    init(
      _ deadline: NIODeadline, on eventLoop: any EventLoop, _ action: @escaping @Sendable () -> Void
    ) {
      let task = eventLoop.scheduleTask(deadline: deadline) { [weak self] in
        self?.passed.withLock { $0 = true }
        action()
      }
      scheduled.withLock { $0 = task }
    }

    func cancel() { scheduled.withLock { $0.take() }?.cancel() }
  }
#endif
