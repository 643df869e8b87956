import NIOCore
import Synchronization

/// Measures how long an exchange with an origin has waited for its client: for the next bytes of a request's body, or
/// for the client to take more of a response's body.
final class ClientPace: Sendable {
  private let start = Mutex<NIODeadline?>(nil)

  /// Begins a wait for the client, unless one has begun already.
  func waits(since now: NIODeadline = .now()) { start.withLock { $0 = $0 ?? now } }

  /// Ends the wait: the client has sent or taken bytes.
  func goesOn() { start.withLock { $0 = nil } }

  /// Whether the client has kept the exchange waiting for `patience`.
  func isSlow(at now: NIODeadline, patience: TimeAmount) -> Bool {
    start.withLock { start in start.map { $0 + patience <= now } ?? false }
  }
}
