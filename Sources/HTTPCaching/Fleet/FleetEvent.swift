public import HTTPCacheSemantics

/// An event between a cache and the tier that it shares with other nodes.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum FleetEvent: Sendable, Hashable, CustomStringConvertible {
  /// The node has read all changes, and uses the tier. `restored` changes that the tier had lost were added again.
  case connected(restored: Int)
  /// The connection is lost: the tier counts as absent, and changes wait.
  case disconnected(SharedTierError)
  /// A change of another node was applied.
  case applied(SharedChange)
  /// All entries of this node were invalidated, because changes of other nodes may be unknown.
  case invalidatedAll(FleetGap)
  /// A response was published; the length of its body in bytes.
  case published(CacheKey, bytes: Int64)
  /// A response was not published.
  case notPublished(CacheKey, SharedTierError)
  /// The tier failed; the request continued without it.
  case failed(operation: String, SharedTierError)

  /// One line for people.
  public var description: String {
    switch self {
    case .connected(let restored):
      "fleet: connected" + (restored > 0 ? ", \(restored) lost changes added again" : "")
    case .disconnected(let error): "fleet: disconnected: \(error)"
    case .applied(let change):
      "fleet: another node's change: \(change.kind.rawValue) \(change.selection.text)"
    case .invalidatedAll(let gap): "fleet: all entries are invalidated: \(gap)"
    case .published(let key, let bytes): "\(key.target): published, \(bytes) bytes"
    case .notPublished(let key, let error): "\(key.target): not published: \(error)"
    case .failed(let operation, let error): "fleet: failed to \(operation): \(error)"
    }
  }
}

/// Why a node may not know all changes of other nodes.
public enum FleetGap: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// The directory has entries, and no position in the log.
  case unknownPosition
  /// The log no longer has the position that the node had reached.
  case logCut
  /// The log of the tier was lost, and this process does not know what was in it.
  case logLost
  /// There was no connection for longer than nodes remember changes of others.
  case absence
  /// There were too many changes to apply them one by one.
  case backlog
  /// The log has a change that this version cannot read.
  case unreadableChange
  /// There is no connection, and the bound of staleness has passed, or there was no connection since the start.
  case stalenessBound

  /// The reason in a few words.
  public var description: String {
    switch self {
    case .unknownPosition: "the directory has no position in the log"
    case .logCut: "the log no longer has the changes that this node missed"
    case .logLost: "the tier lost its log while this node was away"
    case .absence: "there was no connection for too long"
    case .backlog: "too many changes at once"
    case .unreadableChange: "a change of a newer version"
    case .stalenessBound: "no connection within the bound of staleness"
    }
  }
}
