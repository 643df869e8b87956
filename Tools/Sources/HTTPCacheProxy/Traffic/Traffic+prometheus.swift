extension Traffic {
  /// Adds requests by outcome and status, and their times by outcome.
  func add(to text: inout PrometheusText) {
    let series = series.sorted { ($0.key.outcome, $0.key.status) < ($1.key.outcome, $1.key.status) }
    func labels(_ key: TrafficSeries.Key) -> [(name: String, value: String)] {
      [("outcome", key.outcome), ("status", "\(key.status)")]
    }
    text.begin(
      "httpcache_requests_total", .counter, help: "Requests that were answered, by outcome and status.")
    for (key, series) in series { text.add("httpcache_requests_total", labels(key), "\(series.count)") }
    text.begin(
      "httpcache_response_body_bytes_total", .counter,
      help: "Bytes of bodies sent to clients, by outcome and status.")
    for (key, series) in series {
      text.add("httpcache_response_body_bytes_total", labels(key), "\(series.bytes)")
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
        text.add("\(name)_bucket", [("outcome", outcome), ("le", bound)], "\(count)")
      }
      text.add("\(name)_sum", [("outcome", outcome)], PrometheusText.seconds(series.microseconds))
      text.add("\(name)_count", [("outcome", outcome)], "\(series.count)")
    }
  }
}
