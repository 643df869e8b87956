import Dispatch
import Foundation
import Synchronization

/// Ends a load that makes no progress: Foundation does not do so for a protocol of somebody else's.
///
/// Only waiting for the cache counts, neither a slow delegate nor a suspended task.
final class LoadWatch: Sendable {
  private struct State {
    var waitingSince: DispatchTime?
    var isEnded = false
  }

  /// Time for the upstream's own timeout to come first, so that a stale response may answer.
  private static let grace: TimeInterval = 1

  private let idle: TimeInterval
  private let deadline: DispatchTime
  private let state = Mutex(State())

  /// - Parameters:
  ///   - idle: seconds without progress.
  ///   - total: seconds in all.
  init(idle: TimeInterval, total: TimeInterval) {
    self.idle = idle + Self.grace
    deadline = .now() + total
  }

  func start(_ onTimeout: @escaping @Sendable () -> Void) {
    schedule(after: min(idle, deadline - .now()), onTimeout)
  }

  func end() { state.withLock { $0.isEnded = true } }

  /// Waits for something that has to come in time.
  func waiting<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
    state.withLock { $0.waitingSince = .now() }
    defer { state.withLock { $0.waitingSince = nil } }
    return try await work()
  }

  private func schedule(after seconds: TimeInterval, _ onTimeout: @escaping @Sendable () -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + max(0.001, seconds)) { [weak self] in
      guard let self else { return }
      let (isEnded, since) = state.withLock { ($0.isEnded, $0.waitingSince) }
      if isEnded { return }
      let now = DispatchTime.now()
      let waited = since.map { now - $0 } ?? 0
      if waited >= idle || now >= deadline { return onTimeout() }
      schedule(after: min(idle - waited, deadline - now), onTimeout)
    }
  }
}

extension DispatchTime {
  /// The seconds from one to the other.
  fileprivate static func - (lhs: DispatchTime, rhs: DispatchTime) -> TimeInterval {
    (TimeInterval(lhs.uptimeNanoseconds) - TimeInterval(rhs.uptimeNanoseconds)) / 1e9
  }
}
