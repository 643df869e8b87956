/// The finished requests with one outcome and status.
struct TrafficSeries: Sendable {
  /// The properties that the requests have in common.
  struct Key: Sendable, Hashable {
    /// One word, as in the access log.
    var outcome: String
    var status: Int
  }

  /// The upper bounds of the buckets in microseconds; the last bucket has none.
  static let bounds: [Int64] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000, 60_000_000,
  ]

  /// The number of requests.
  private(set) var count: Int64 = 0
  /// The bytes of bodies that were sent.
  private(set) var bytes: Int64 = 0
  /// The time of all requests in microseconds.
  private(set) var microseconds: Int64 = 0
  /// The number of requests in each bucket.
  private(set) var buckets = [Int64](repeating: 0, count: bounds.count + 1)

  /// Adds a request.
  mutating func add(bytes: Int64, microseconds: Int64) {
    count += 1
    self.bytes += bytes
    self.microseconds += microseconds
    buckets[Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count] += 1
  }

  /// Adds the requests of another series.
  mutating func add(_ other: TrafficSeries) {
    count += other.count
    bytes += other.bytes
    microseconds += other.microseconds
    for index in buckets.indices { buckets[index] += other.buckets[index] }
  }
}
