/// The rate of a transfer, smoothed over some seconds.
struct RateMeter: Sendable {
  /// A sample counts less with its age; after this many seconds about a third of its weight is left.
  private static let memory = 5.0
  private static let shortestSample = 0.25

  private(set) var bytesPerSecond = 0.0
  private var start: Duration
  private var bytes: Int64 = 0
  private var hasSample = false

  init(at uptime: Duration) { start = uptime }

  /// Bytes arrived.
  mutating func add(_ count: Int64, at uptime: Duration) {
    bytes += count
    let seconds = (uptime - start) / .seconds(1)
    guard seconds >= Self.shortestSample else { return }
    let sample = Double(bytes) / seconds
    // The first sample alone is the rate: a mean with 0 would show half of it for seconds.
    let weight = hasSample ? seconds / (seconds + Self.memory) : 1
    bytesPerSecond += (sample - bytesPerSecond) * weight
    hasSample = true
    bytes = 0
    start = uptime
  }
}
