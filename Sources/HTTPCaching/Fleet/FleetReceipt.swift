/// How many nodes have applied the changes of a node.
public struct FleetReceipt: Sendable, Hashable {
  /// The number of nodes that have applied all of them, with this node.
  public let applied: Int
  /// The number of nodes that the tier knows of, with this node.
  public let nodes: Int
  /// The number of changes that are not in the log yet: no other node knows of them.
  public let pendingChanges: Int

  /// Whether each node has applied all changes.
  public var isComplete: Bool { applied == nodes && pendingChanges == 0 }
}
