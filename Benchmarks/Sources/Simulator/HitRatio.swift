/// The share of requests, and of their bytes, that a cache answers.
struct HitRatio {
  let requests: Double
  let bytes: Double

  init(hits: Double, bytes: Double, of trace: Trace) {
    requests = hits / Double(trace.requests.count)
    self.bytes = bytes / trace.requestedBytes
  }

  init(requests: Double, bytes: Double) {
    self.requests = requests
    self.bytes = bytes
  }

  /// The share of the gap between two ratios that this ratio closes; 1 closes the whole gap.
  func gapClosed(from low: HitRatio, to high: HitRatio) -> HitRatio {
    func part(_ own: Double, _ low: Double, _ high: Double) -> Double {
      high > low ? (own - low) / (high - low) : 0
    }
    return HitRatio(
      requests: part(requests, low.requests, high.requests),
      bytes: part(bytes, low.bytes, high.bytes))
  }

  /// The mean of several.
  static func mean(_ ratios: [HitRatio]) -> HitRatio {
    let count = Double(max(1, ratios.count))
    return HitRatio(
      requests: ratios.reduce(0) { $0 + $1.requests } / count,
      bytes: ratios.reduce(0) { $0 + $1.bytes } / count)
  }
}
