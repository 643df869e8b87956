import Foundation

/// Lets an interrupted command clean up, so that it leaves no temporary files.
enum Interruption {
  /// Runs `body` in a task that SIGINT and SIGTERM cancel.
  static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let signals = await TerminationSignals.stream()
    let task = Task { try await body() }
    let watcher = Task {
      for await _ in signals {
        // The first signal keeps the received bytes; the second ends the process without waiting for that.
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
