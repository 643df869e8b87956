public import HTTPCacheStore
public import HTTPCaching

/// The result of a purge: the responses of this server, and how many nodes of its fleet have applied the purge.
public struct PurgeReport: Sendable, Hashable {
  /// How long a purge waits for the other nodes.
  public static let patience = Duration.seconds(2)

  /// The nodes of a fleet after a purge.
  public struct Fleet: Sendable, Hashable {
    /// The number of nodes, with this one, that have applied all changes of this node; nil if the tier does not tell.
    public let applied: Int?
    /// The number of nodes that the tier knows of, with this one; nil if the tier does not tell.
    public let nodes: Int?
    /// The number of changes that wait until the tier can be reached: no other node knows of them.
    public let pending: Int
  }

  /// Whether the responses are kept, and validated before their next use.
  public let isSoft: Bool
  /// The number of responses; nil if the store does not count them.
  public let count: Int?
  /// Nil for a server without a fleet.
  public let fleet: Fleet?

  /// Removes or invalidates responses, and waits for the other nodes of the fleet.
  ///
  /// - Parameters:
  ///   - selections: the responses.
  ///   - isSoft: whether their lifetime is ended, and they are not removed.
  ///   - patience: how long to wait for the other nodes.
  /// - Throws: `CacheError` if the store fails.
  public static func purge(
    _ selections: [CacheSelection], isSoft: Bool, from cache: HTTPCache,
    patience: Duration = Self.patience
  ) async throws(CacheError) -> PurgeReport {
    var total: Int? = 0
    for selection in selections {
      let count = isSoft ? try await cache.expire(selection) : try await cache.remove(selection)
      total = count.flatMap { count in total.map { $0 + count } }
    }
    return PurgeReport(isSoft: isSoft, count: total, fleet: await Self.fleet(of: cache, patience: patience))
  }

  private static func fleet(of cache: HTTPCache, patience: Duration) async -> Fleet? {
    guard let status = cache.fleetStatus else { return nil }
    // Changes that wait for the tier reach no other node within the time.
    let limit = status.pendingChanges == 0 ? patience : .zero
    guard let receipt = try? await cache.fleetReceipt(within: limit) else {
      return Fleet(applied: nil, nodes: nil, pending: cache.fleetStatus?.pendingChanges ?? 0)
    }
    return Fleet(applied: receipt.applied, nodes: receipt.nodes, pending: receipt.pendingChanges)
  }

  /// Whether each node is known to have applied the purge.
  public var isComplete: Bool {
    guard let fleet else { return true }
    return fleet.pending == 0 && fleet.applied != nil && fleet.applied == fleet.nodes
  }

  /// 200, or 202 while nodes may use what was purged (RFC 9110 §15.3.3).
  public var status: Int { isComplete ? 200 : 202 }

  /// The report as JSON, such as `{"removed":2,"fleet":{"applied":3,"nodes":3,"pending":0}}`.
  public var json: String {
    let own = "\"\(isSoft ? "expired" : "removed")\":\(Self.text(count))"
    guard let fleet else { return "{\(own)}" }
    return
      "{\(own),\"fleet\":{\"applied\":\(Self.text(fleet.applied)),\"nodes\":\(Self.text(fleet.nodes)),\"pending\":\(fleet.pending)}}"
  }

  private static func text(_ number: Int?) -> String { number.map { "\($0)" } ?? "null" }
}
