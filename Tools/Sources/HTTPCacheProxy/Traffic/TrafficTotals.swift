/// The requests that a server has answered, or those of an interval as the difference of two totals.
public struct TrafficTotals: Sendable, Hashable {
  /// The number of requests by outcome: one word, as in the access log.
  public private(set) var outcomes: [String: Int64] = [:]
  /// The number of responses with a status of 500 or more.
  public private(set) var serverErrors: Int64 = 0
  /// The number of requests.
  public private(set) var requests: Int64 = 0
  /// The bytes of bodies sent to clients.
  public private(set) var bytes: Int64 = 0
  private var buckets = [Int64](repeating: 0, count: TrafficSeries.bounds.count + 1)

  /// No requests.
  public init() {}

  mutating func add(_ series: TrafficSeries, _ key: TrafficSeries.Key) {
    outcomes[key.outcome, default: 0] += series.count
    if key.status >= 500 { serverErrors += series.count }
    requests += series.count
    bytes += series.bytes
    for (index, count) in series.buckets.enumerated() { buckets[index] += count }
  }

  /// The requests that came after `earlier`.
  public static func - (later: TrafficTotals, earlier: TrafficTotals) -> TrafficTotals {
    var interval = later
    for (outcome, count) in earlier.outcomes { interval.outcomes[outcome, default: 0] -= count }
    interval.outcomes = interval.outcomes.filter { $0.value != 0 }
    interval.serverErrors -= earlier.serverErrors
    interval.requests -= earlier.requests
    interval.bytes -= earlier.bytes
    for index in interval.buckets.indices { interval.buckets[index] -= earlier.buckets[index] }
    return interval
  }

  /// The time in seconds within which a share of the requests ended, interpolated between the bounds of the histogram;
  /// nil without requests.
  ///
  /// - Parameter share: from 0 to 1, such as 0.99.
  public func percentile(_ share: Double) -> Double? {
    let all = buckets.reduce(0, +)
    guard all > 0 else { return nil }
    let wanted = share * Double(all)
    var below: Int64 = 0
    for (index, count) in buckets.enumerated() where count > 0 {
      if Double(below + count) >= wanted {
        let lower = index == 0 ? 0 : TrafficSeries.bounds[index - 1]
        let upper = index < TrafficSeries.bounds.count ? TrafficSeries.bounds[index] : lower
        let part = (wanted - Double(below)) / Double(count)
        return (Double(lower) + part * Double(upper - lower)) / 1_000_000
      }
      below += count
    }
    return nil
  }
}
