/// A change in the log.
public struct SharedLogEntry: Sendable, Hashable {
  /// Where it is.
  public let position: SharedPosition
  /// The change; nil for an entry that this version cannot read, which counts as an invalidation of everything.
  public let change: SharedChange?

  /// Makes an entry.
  public init(position: SharedPosition, change: SharedChange?) {
    self.position = position
    self.change = change
  }
}
