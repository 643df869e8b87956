/// A node of the fleet.
public struct SharedNode: Sendable, Hashable {
  /// The name of the node.
  public let name: String
  /// The last change that the node has applied.
  public let applied: SharedPosition
  /// When the node told so, in milliseconds since 1970 by the server's clock; 0 in a report.
  public let seen: Int64

  /// Makes a node.
  public init(name: String, applied: SharedPosition, seen: Int64) {
    self.name = name
    self.applied = applied
    self.seen = seen
  }
}
