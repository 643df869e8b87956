import NIOCore
import Synchronization

/// Lets a message of one kind into the log once a minute, for what clients can make happen again and again.
final class MessageLimit: Sendable {
  private static let silence = TimeAmount.minutes(1)

  /// When each kind was told last.
  private let lastTold = Mutex<[String: NIODeadline]>([:])

  /// Whether to log a message.
  ///
  /// - Parameter kind: one of few.
  func allows(_ kind: String) -> Bool {
    let now = NIODeadline.now()
    return lastTold.withLock { last in
      if let told = last[kind], now - told < Self.silence { return false }
      last[kind] = now
      return true
    }
  }
}
