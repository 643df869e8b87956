import Synchronization

/// The latest value that a watcher has not read yet, and the signal that there is one.
final class Mailbox<Value: Sendable>: Sendable {
  private let unread = Mutex<Value?>(nil)
  let signal: AsyncStream<Void>.Continuation

  init(_ signal: AsyncStream<Void>.Continuation) { self.signal = signal }

  /// Changes what is unread. The caller gives the signal, outside of its locks.
  func change(_ body: (inout Value?) -> Void) { unread.withLock { body(&$0) } }

  /// The unread value, which is then read.
  func take() -> Value? { unread.withLock { $0.take() } }
}
