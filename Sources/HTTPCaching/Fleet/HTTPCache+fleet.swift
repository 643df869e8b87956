/// A cache that shares a tier with other nodes (`Configuration.shared`).
///
/// Responses that one node fetched answer the others, and removals, invalidations and wipes reach all nodes. A change is
/// applied on this node when the call returns; `fleetReceipt(within:)` tells how many other nodes have applied it, too.
extension HTTPCache {
  /// Waits until this node has read all changes of the other nodes, so that it serves nothing that they removed or
  /// invalidated while it was away. Call it before the first request; without it, requests in the first moments may be
  /// answered from the directory as it was.
  ///
  /// - Parameter limit: the longest time to wait. The cache then works without the tier until the tier can be reached.
  /// - Returns: whether the node is connected; false for a cache without a tier.
  @discardableResult
  public func join(within limit: Duration) async -> Bool {
    await engine.fleet?.join(within: limit) ?? false
  }

  /// Stops to follow the log, for a simulation that has to come to an end.
  package func stopFollowing() { engine.fleet?.stop() }

  /// How the cache is connected with its fleet; nil for a cache without a tier.
  public var fleetStatus: FleetStatus? { engine.fleet?.status }

  /// How many nodes have applied all changes that this node has made.
  ///
  /// - Parameter limit: how long to wait until all have.
  /// - Returns: nil for a cache without a tier.
  /// - Throws: `SharedTierError` if the tier cannot tell.
  public func fleetReceipt(within limit: Duration) async throws(SharedTierError) -> FleetReceipt? {
    guard let fleet = engine.fleet else { return nil }
    return try await fleet.receipt(within: limit)
  }

  /// The nodes of the fleet that told of themselves in the last seconds; none for a cache without a tier.
  ///
  /// - Throws: `SharedTierError` if the tier cannot tell.
  public func fleetNodes() async throws(SharedTierError) -> [SharedNode] {
    guard let fleet = engine.fleet else { return [] }
    return try await fleet.ask("ask for the nodes") { () async throws(SharedTierError) in
      try await fleet.tier.nodes()
    }
  }
}
