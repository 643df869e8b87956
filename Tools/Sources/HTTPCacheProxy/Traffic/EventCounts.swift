public import HTTPCaching
import Synchronization

/// Counts the failures that a cache reports, and passes each event on.
public final class EventCounts: CacheObserver {
  private struct Counts {
    var storeErrors: [String: Int64] = [:]
    var originFailures: [String: Int64] = [:]
    /// By the addresses of upstreams that have several.
    var addressFailures: [String: Int64] = [:]
    var validations: Int64 = 0
    var fleetFailures: [String: Int64] = [:]
    var fleetGaps: [FleetGap: Int64] = [:]
    var appliedChanges: Int64 = 0
    var publications: Int64 = 0

    mutating func add(_ event: FleetEvent) {
      switch event {
      case .applied: appliedChanges += 1
      case .published: publications += 1
      case .notPublished: fleetFailures["publish", default: 0] += 1
      case .failed(let operation, _): fleetFailures[operation, default: 0] += 1
      case .invalidatedAll(let gap): fleetGaps[gap, default: 0] += 1
      case .disconnected: fleetFailures["follow the log", default: 0] += 1
      case .connected: break
      @unknown default: break
      }
    }
  }

  private let next: (any CacheObserver)?
  private let counts = Mutex(Counts())

  /// Makes an observer.
  ///
  /// - Parameter next: gets each event afterwards.
  public init(next: (any CacheObserver)? = nil) { self.next = next }

  /// Counts an event.
  public func observe(_ event: CacheEvent) {
    switch event {
    case .answered: break
    case .storeFailed(let operation, _):
      if !event.isOfOneEntry { counts.withLock { $0.storeErrors[operation, default: 0] += 1 } }
    case .upstreamFailed(_, let error):
      counts.withLock { $0.originFailures[error.kind.rawValue, default: 0] += 1 }
    case .validatingInBackground: counts.withLock { $0.validations += 1 }
    case .fleet(let event): counts.withLock { $0.add(event) }
    default: break
    }
    next?.observe(event)
  }

  /// Counts a request that an address of an upstream did not answer, whether or not another address did.
  package func addressFailed(_ address: Origin) {
    counts.withLock { $0.addressFailures["\(address)", default: 0] += 1 }
  }

  /// Adds the counts of a fleet's events.
  public func addFleet(to text: inout PrometheusText) {
    let counts = counts.withLock { $0 }
    text.add(
      "httpcache_fleet_applied_changes_total", .counter, help: "Changes of other nodes that were applied.",
      value: counts.appliedChanges)
    text.add(
      "httpcache_fleet_publications_total", .counter, help: "Responses that were published for other nodes.",
      value: counts.publications)
    text.begin("httpcache_fleet_failures_total", .counter, help: "Failures of the tier, by operation.")
    for (operation, count) in counts.fleetFailures.sorted(by: { $0.key < $1.key }) {
      text.add("httpcache_fleet_failures_total", labels: [("operation", operation)], value: "\(count)")
    }
    text.begin(
      "httpcache_fleet_invalidations_total", .counter,
      help:
        "How often all entries were invalidated, because changes of other nodes may be unknown, by reason.")
    for gap in FleetGap.allCases {
      guard let count = counts.fleetGaps[gap] else { continue }
      text.add("httpcache_fleet_invalidations_total", labels: [("reason", gap.rawValue)], value: "\(count)")
    }
  }

  /// Adds the counts.
  public func add(to text: inout PrometheusText) {
    let counts = counts.withLock { $0 }
    text.begin("httpcache_store_errors_total", .counter, help: "Failed operations of the store.")
    for (operation, count) in counts.storeErrors.sorted(by: { $0.key < $1.key }) {
      text.add("httpcache_store_errors_total", labels: [("operation", operation)], value: "\(count)")
    }
    text.begin("httpcache_origin_failures_total", .counter, help: "Requests to origins that failed, by kind.")
    for (kind, count) in counts.originFailures.sorted(by: { $0.key < $1.key }) {
      text.add("httpcache_origin_failures_total", labels: [("kind", kind)], value: "\(count)")
    }
    let addresses = "httpcache_origin_address_failures_total"
    text.begin(
      addresses, .counter,
      help: "Requests that an address of an upstream did not answer, by address; another one may have.")
    for (address, count) in counts.addressFailures.sorted(by: { $0.key < $1.key }) {
      text.add(addresses, labels: [("address", address)], value: "\(count)")
    }
    text.add(
      "httpcache_background_validations_total", .counter,
      help: "Stale responses that were validated after they were used (RFC 5861).", value: counts.validations)
  }
}
