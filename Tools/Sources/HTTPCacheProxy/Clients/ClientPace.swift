import NIOCore
import Synchronization

/// Since when an exchange with an origin waits for its client: for the next bytes of a request's body, or until the
/// client takes more of a response's.
final class ClientPace: Sendable {
  private let start = Mutex<NIODeadline?>(nil)

  /// The exchange waits for its client. A wait that has begun goes on.
  func waits(since now: NIODeadline = .now()) { start.withLock { $0 = $0 ?? now } }

  /// The client did its part.
  func goesOn() { start.withLock { $0 = nil } }

  /// Whether the client has kept the exchange waiting for `patience`.
  func isSlow(at now: NIODeadline, patience: TimeAmount) -> Bool {
    start.withLock { start in start.map { $0 + patience <= now } ?? false }
  }
}
