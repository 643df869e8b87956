/// The lock of a key: one fetch from the origin for all nodes.
public enum SharedLock: Sendable, Hashable {
  /// The lock was free, and is held with the given token now.
  case acquired
  /// Another fetch holds the lock; its ticket tells whether a change has overtaken that fetch.
  case held(ticket: SharedPosition)
  /// The response cannot be shared: other nodes do not wait.
  case refused
}
