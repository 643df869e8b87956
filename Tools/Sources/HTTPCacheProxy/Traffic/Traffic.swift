import NIOCore
import Synchronization

/// Counts the finished requests of a server. Each event loop counts in a part of its own, so that no loop waits for the
/// lock of another.
final class Traffic: Sendable {
  /// The counts of one event loop.
  final class Part: Sendable {
    fileprivate let series = Mutex<[TrafficSeries.Key: TrafficSeries]>([:])
    fileprivate let missed = Mutex(MissedTargets())

    /// Adds a finished request.
    func add(_ entry: AccessLog.Entry) {
      series.withLock {
        $0[TrafficSeries.Key(outcome: entry.outcome, status: entry.status), default: TrafficSeries()]
          .add(bytes: entry.bytes, microseconds: entry.microseconds)
      }
      if MissedTargets.counts(entry) { missed.withLock { $0.add(entry) } }
    }
  }

  private let parts: [ObjectIdentifier: Part]
  private let other = Part()

  /// - Parameter loops: the event loops of the connections.
  init(loops: [any EventLoop]) {
    parts = Dictionary(loops.map { (ObjectIdentifier($0), Part()) }, uniquingKeysWith: { first, _ in first })
  }

  /// The part of an event loop.
  func part(of loop: any EventLoop) -> Part { parts[ObjectIdentifier(loop)] ?? other }

  /// The counts of all event loops.
  var series: [TrafficSeries.Key: TrafficSeries] {
    var all: [TrafficSeries.Key: TrafficSeries] = [:]
    for part in Array(parts.values) + [other] {
      for (key, series) in part.series.withLock({ $0 }) { all[key, default: TrafficSeries()].add(series) }
    }
    return all
  }

  /// The sum of all outcomes and statuses.
  var totals: TrafficTotals {
    var totals = TrafficTotals()
    for (key, series) in series { totals.add(series, key) }
    return totals
  }

  /// The most missed targets of all event loops, most requests first.
  var missedTargets: [MissedTarget] {
    var all: [MissedTarget.Key: MissedTarget] = [:]
    for part in Array(parts.values) + [other] {
      for target in part.missed.withLock({ $0.targets }) {
        all[target.key, default: MissedTarget(target.key)].add(target)
      }
    }
    return all.values.sorted { ($1.count, $0.target, $0.host) < ($0.count, $1.target, $1.host) }
  }
}

extension Traffic {
  /// Adds requests by outcome and status, and their times by outcome.
  func add(to text: inout PrometheusText) {
    let series = series.sorted { ($0.key.outcome, $0.key.status) < ($1.key.outcome, $1.key.status) }
    func labels(_ key: TrafficSeries.Key) -> [(name: String, value: String)] {
      [("outcome", key.outcome), ("status", "\(key.status)")]
    }
    text.begin(
      "httpcache_requests_total", .counter, help: "Requests that were answered, by outcome and status.")
    for (key, series) in series {
      text.add("httpcache_requests_total", labels: labels(key), value: "\(series.count)")
    }
    text.begin(
      "httpcache_response_body_bytes_total", .counter,
      help: "Bytes of bodies sent to clients, by outcome and status.")
    for (key, series) in series {
      text.add("httpcache_response_body_bytes_total", labels: labels(key), value: "\(series.bytes)")
    }
    addTimes(to: &text)
  }

  private func addTimes(to text: inout PrometheusText) {
    let name = "httpcache_request_duration_seconds"
    text.begin(
      name, .histogram, help: "Time from the head of a request to the end of its response, by outcome.")
    var outcomes: [String: TrafficSeries] = [:]
    for (key, series) in series { outcomes[key.outcome, default: TrafficSeries()].add(series) }
    for (outcome, series) in outcomes.sorted(by: { $0.key < $1.key }) {
      var count: Int64 = 0
      for (index, inBucket) in series.buckets.enumerated() {
        count += inBucket
        let bounds = TrafficSeries.bounds
        let bound = index < bounds.count ? PrometheusText.seconds(bounds[index]) : "+Inf"
        text.add("\(name)_bucket", labels: [("outcome", outcome), ("le", bound)], value: "\(count)")
      }
      text.add(
        "\(name)_sum", labels: [("outcome", outcome)], value: PrometheusText.seconds(series.microseconds))
      text.add("\(name)_count", labels: [("outcome", outcome)], value: "\(series.count)")
    }
  }
}
