import Foundation

/// Lets a command end in order when it is interrupted, so that it leaves no temporary files.
enum Interruption {
  /// Runs `body` in a task that SIGINT and SIGTERM cancel.
  static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await body() }
    let watcher = Task {
      for await _ in TerminationSignals.stream() {
        // The first signal keeps what came; the second does not wait for that.
        if task.isCancelled { _exit(ExitStatus.interrupted.rawValue) }
        task.cancel()
      }
    }
    defer {
      watcher.cancel()
      for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
    try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}
