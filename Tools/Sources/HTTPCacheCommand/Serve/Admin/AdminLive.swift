import HTTPCacheProxy
import HTTPCaching

/// The figures of a server over a second, as `/live` tells it, `httpcache top` and the dashboard show it.
struct AdminLive: Codable {
  /// Seconds since 1970.
  var time: Double
  /// The seconds that the figures are of.
  var seconds: Double
  var requests: Int64
  var bytes: Int64
  /// The requests by outcome: one word each, as in the access log.
  var outcomes: [String: Int64]
  /// Responses with a status of 500 or more.
  var serverErrors: Int64
  /// Seconds within which half of the requests ended; nil without requests. The others are of 90 % and 99 %.
  var p50: Double?
  var p90: Double?
  var p99: Double?
  var connections: Int
  var memoryBytes: Int64
  var memoryCapacity: Int64
  var memoryEntries: Int
  var diskBytes: Int64
  var diskCapacity: Int64
  var diskEntries: Int
  /// Nil without a fleet.
  var fleet: AdminFleet?

  init(
    _ traffic: TrafficTotals, seconds: Double, at time: Double, _ usage: StoreUsage, connections: Int,
    fleet: AdminFleet? = nil
  ) {
    self.time = time
    self.seconds = seconds
    requests = traffic.requests
    bytes = traffic.bytes
    outcomes = traffic.outcomes
    serverErrors = traffic.serverErrors
    p50 = traffic.percentile(0.5)
    p90 = traffic.percentile(0.9)
    p99 = traffic.percentile(0.99)
    self.connections = connections
    memoryBytes = usage.memoryBytes
    memoryCapacity = usage.memoryCapacity
    memoryEntries = usage.memoryEntries
    diskBytes = usage.diskBytes
    diskCapacity = usage.diskCapacity
    diskEntries = usage.diskEntries
    self.fleet = fleet
  }

  /// Requests that the store answered, with or without a validation, or the tier of the fleet.
  var hits: Int64 { ["hit", "stale", "validated", "shared"].reduce(0) { $0 + (outcomes[$1] ?? 0) } }

  /// Requests that the store could have answered.
  var cacheable: Int64 { ["miss", "refetched", "collapsed"].reduce(hits) { $0 + (outcomes[$1] ?? 0) } }
}

/// A row of `/missed`.
struct AdminMissed: Codable {
  /// The host that clients asked for; nil from a server that does not tell it.
  var host: String?
  var target: String
  var requests: Int64
  /// At most so many of `requests` belong to other targets.
  var uncertainty: Int64
  var meanSeconds: Double
  var slowestSeconds: Double
  var outcome: String
  var status: Int
  /// Why the response was not stored.
  var reason: String?

  init(_ target: MissedTarget) {
    host = target.host
    self.target = target.target
    requests = target.count
    uncertainty = target.uncertainty
    meanSeconds = Double(target.microseconds) / Double(max(1, target.count - target.uncertainty)) / 1_000_000
    slowestSeconds = Double(target.slowest) / 1_000_000
    outcome = target.outcome
    status = target.status
    reason = target.refusal
  }
}

extension AdminMissed {
  /// Host and path, or the target as it is if it names the host itself.
  var place: String { target.hasPrefix("/") ? (host ?? "") + target : target }
}

/// A line of `/requests`.
struct AdminRequestLine: Codable {
  /// Seconds since 1970.
  var time: Double
  var client: String
  var method: String
  /// The host that the client asked for; nil from a server that does not tell it.
  var host: String?
  var target: String
  var status: Int
  var bytes: Int64
  var milliseconds: Double
  var outcome: String
  /// Why the response was not stored.
  var notStored: String?
  /// Why the request was refused.
  var reason: String?

  init(_ request: AccessLog.Entry, at time: Double) {
    self.time = time
    client = request.client
    method = request.method
    host = request.host
    target = request.target
    status = request.status
    bytes = request.bytes
    milliseconds = Double(request.microseconds) / 1_000
    outcome = request.outcome
    notStored = request.refusal
    reason = request.reason
  }
}
