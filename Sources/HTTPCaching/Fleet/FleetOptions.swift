/// How a cache takes part in a fleet: several nodes whose caches share one tier (`HTTPCache.Configuration.shared`).
public struct FleetOptions: Sendable {
  /// The name of this node among the nodes of the fleet; random by default.
  public var nodeName: String
  /// While the tier cannot be reached, this node does not learn of changes on other nodes. With a bound, it invalidates
  /// all of its own entries when the tier has given no sign of life for this time, and again each time the bound has
  /// passed: no entry is used for longer than the bound after another node has changed it. A node that starts without
  /// the tier invalidates all of its entries at once. The node notices a silent server within 1.25 s, and no bound holds
  /// before. nil uses entries for as long as they are fresh.
  public var stalenessBound: Duration?
  /// The partitions that a private cache shares (`CacheRules.mode`); a shared cache shares all of its partitions.
  public var privatePartitions: Set<String>
  /// The name of the tier in `Cache-Status` (RFC 9211 §2). The field is added only if the cache has a name, too.
  public var cacheStatusName: String

  /// Makes options.
  public init(
    nodeName: String = "node-" + String(UInt32.random(in: .min ... .max), radix: 16),
    stalenessBound: Duration? = nil, privatePartitions: Set<String> = [], cacheStatusName: String = "fleet"
  ) {
    self.nodeName = nodeName
    self.stalenessBound = stalenessBound
    self.privatePartitions = privatePartitions
    self.cacheStatusName = cacheStatusName
  }
}
