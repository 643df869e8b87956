/// How a cache is connected with its fleet, for operators.
public struct FleetStatus: Sendable, Hashable {
  /// The name of this node.
  public let nodeName: String
  /// Whether the node has read all changes and uses the tier.
  public let isConnected: Bool
  /// Whether the tier is left alone for a moment, because it did not answer in time.
  public let isPaused: Bool
  /// The last change in the log that this node has applied.
  public let position: SharedPosition
  /// The time since the tier last told of its changes, or that there are none; nil before the first time.
  public let delay: Duration?
  /// The number of changes of this node that are not in the log yet.
  public let pendingChanges: Int
}

extension FleetStatus: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    var text = isConnected ? "connected as \(nodeName)" : "\(nodeName), not connected"
    if let delay { text += ", all changes read up to \(delay.milliseconds) ms ago" }
    if isPaused { text += ", left alone for a moment" }
    if pendingChanges > 0 { text += ", \(pendingChanges) changes wait" }
    return text
  }
}

extension Duration {
  /// The whole milliseconds, toward zero; at most those of 2⁴⁰ seconds.
  var milliseconds: Int64 {
    let bounded = min(max(self, .zero), .seconds(1 << 40)).components
    return bounded.seconds * 1_000 + bounded.attoseconds / 1_000_000_000_000_000
  }
}

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
