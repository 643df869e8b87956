import HTTPCaching
import NIOEmbedded
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Counts of requests, as Prometheus reads them", .timeLimit(.minutes(10))) struct TrafficTests {
  @Test("requests are counted by outcome and status, whichever event loop handles them")
  func requests() {
    let loops = [EmbeddedEventLoop(), EmbeddedEventLoop()]
    let traffic = Traffic(loops: loops)
    traffic.part(of: loops[0]).add(.sample(bytes: 10, microseconds: 60))
    traffic.part(of: loops[1]).add(.sample(bytes: 5, microseconds: 40))
    traffic.part(of: EmbeddedEventLoop()).add(.sample(status: 404, bytes: 1, microseconds: 120_000_000))
    var text = PrometheusText()
    traffic.add(to: &text)
    let lines = Set(text.text.split(separator: "\n"))
    for line in [
      "# TYPE httpcache_requests_total counter", "# TYPE httpcache_request_duration_seconds histogram",
      "httpcache_requests_total{outcome=\"hit\",status=\"200\"} 2",
      "httpcache_requests_total{outcome=\"hit\",status=\"404\"} 1",
      "httpcache_response_body_bytes_total{outcome=\"hit\",status=\"200\"} 15",
      "httpcache_request_duration_seconds_bucket{outcome=\"hit\",le=\"0.000050\"} 1",
      "httpcache_request_duration_seconds_bucket{outcome=\"hit\",le=\"0.000100\"} 2",
      "httpcache_request_duration_seconds_bucket{outcome=\"hit\",le=\"60.000000\"} 2",
      "httpcache_request_duration_seconds_bucket{outcome=\"hit\",le=\"+Inf\"} 3",
      "httpcache_request_duration_seconds_sum{outcome=\"hit\"} 120.000100",
      "httpcache_request_duration_seconds_count{outcome=\"hit\"} 3",
    ] {
      #expect(lines.contains(Substring(line)), "\(line)")
    }
  }

  @Test("values of labels are escaped")
  func labels() {
    var text = PrometheusText()
    text.add("a", labels: [("b", "c\"\\\n")], value: "1")
    #expect(text.text == "a{b=\"c\\\"\\\\\\n\"} 1\n")
  }

  @Test("failures of the store and of origins are counted, and every event is passed on")
  func events() {
    let recorder = Recorder()
    let counts = EventCounts(next: recorder)
    counts.observe(.storeFailed(operation: "read", CacheError(.io, "x")))
    counts.observe(.upstreamFailed(target: "http://h/", UpstreamError(.timeout, "x")))
    counts.observe(.invalidated(target: "http://h/"))
    var text = PrometheusText()
    counts.add(to: &text)
    #expect(text.text.contains("httpcache_store_errors_total{operation=\"read\"} 1\n"))
    #expect(text.text.contains("httpcache_origin_failures_total{kind=\"timeout\"} 1\n"))
    #expect(text.text.contains("httpcache_background_validations_total 0\n"))
    #expect(recorder.count == 3)
  }

  @Test("a server counts what it answers: misses, hits and refusals")
  func server() async throws {
    try await withProxy(cache: memoryCache()) { proxy in
      try await proxy.miss("/a", answer: "body")
      _ = try await proxy.hit("/a")
      let client = try proxy.connect(sending: "nonsense\r\n\r\n")
      _ = try await client.receiveAll()
      var text = PrometheusText()
      proxy.server.addMetrics(to: &text)
      #expect(text.text.contains("httpcache_requests_total{outcome=\"miss\",status=\"200\"} 1\n"))
      #expect(text.text.contains("httpcache_requests_total{outcome=\"hit\",status=\"200\"} 1\n"))
      #expect(text.text.contains("httpcache_requests_total{outcome=\"bad-request\",status=\"400\"} 1\n"))
      #expect(text.text.contains("httpcache_response_body_bytes_total{outcome=\"hit\",status=\"200\"} 4\n"))
    }
  }

  private final class Recorder: CacheObserver {
    private let events = Counter()
    var count: Int { events.value }

    func observe(_ event: CacheEvent) { events.increment() }
  }
}
