import HTTPCacheProxy
import HTTPCaching

/// The part of a server in its fleet, as `/stats` and `/live` tell it.
struct AdminFleet: Codable {
  /// The name of this node.
  var node: String
  /// Whether this node has read all changes and uses the tier.
  var isConnected: Bool
  /// Seconds since the tier last told of changes, or that there are none; nil before the first time.
  var lastContactSeconds: Double?
  /// The last change that this node has applied, as the tier names it.
  var position: String
  /// Changes of this node that no other node knows of yet.
  var pendingChanges: Int
  /// Answers from the tier since the start, and the bytes of their bodies.
  var sharedHits: Int64
  var sharedBytes: Int64

  /// - Returns: nil for a cache without a tier.
  init?(_ cache: HTTPCache, _ counts: CacheCounts) {
    guard let status = cache.fleetStatus else { return nil }
    node = status.nodeName
    isConnected = status.isConnected
    lastContactSeconds = status.delay.map { $0 / .seconds(1) }
    position = "\(status.position)"
    pendingChanges = status.pendingChanges
    sharedHits = counts.sharedHits
    sharedBytes = counts.sharedBytes
  }

  /// Adds the metrics.
  func add(to text: inout PrometheusText) {
    text.add(
      "httpcache_fleet_connected", .gauge,
      help: "1 if this node has read all changes of the fleet and uses its tier.", value: isConnected ? 1 : 0)
    text.begin(
      "httpcache_fleet_last_contact_seconds", .gauge,
      help: "Time since the tier last told of changes, or that there are none.")
    if let lastContactSeconds {
      text.add("httpcache_fleet_last_contact_seconds", labels: [], value: "\(lastContactSeconds)")
    }
    text.add(
      "httpcache_fleet_pending_changes", .gauge,
      help: "Changes of this node that no other node knows of yet.", value: Int64(pendingChanges))
    text.add(
      "httpcache_fleet_shared_hits_total", .counter, help: "Answers from the tier.", value: sharedHits)
    text.add(
      "httpcache_fleet_shared_bytes_total", .counter, help: "Bytes of bodies from the tier.",
      value: sharedBytes)
  }

  /// One line for people.
  var line: String {
    let contact = lastContactSeconds.map { ", last contact \(HumanText.duration(.seconds($0))) ago" } ?? ""
    let state = isConnected ? "connected\(contact)" : "not connected"
    return
      "\(state), \(HumanText.count(pendingChanges, "waiting change")), \(HumanText.grouped(sharedHits)) shared hits, \(HumanText.bytes(sharedBytes))"
  }
}
