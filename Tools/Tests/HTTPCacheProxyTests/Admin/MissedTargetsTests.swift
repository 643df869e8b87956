import NIOEmbedded
import Testing

@testable import HTTPCacheProxy

extension AccessLog.Entry {
  static func sample(
    target: String = "/", outcome: String = "hit", status: Int = 200, bytes: Int64 = 0,
    microseconds: Int64 = 0,
    refusal: String? = nil
  ) -> AccessLog.Entry {
    AccessLog.Entry(
      client: "127.0.0.1", method: "GET", target: target, status: status, bytes: bytes,
      microseconds: microseconds,
      outcome: outcome, refusal: refusal)
  }
}

@Suite("The most missed targets", .timeLimit(.minutes(10))) struct MissedTargetsTests {
  @Test("requests, times and the latest reason of each target")
  func rows() {
    var targets = MissedTargets()
    targets.add(.sample(target: "/a", outcome: "miss", microseconds: 10, refusal: "no-store"))
    targets.add(.sample(target: "/a", outcome: "refetched", status: 404, microseconds: 5))
    let row = targets.targets.first
    #expect(targets.targets.count == 1)
    #expect(row?.count == 2 && row?.microseconds == 15 && row?.slowest == 10)
    #expect(row?.outcome == "refetched" && row?.status == 404 && row?.refusal == "no-store")
  }

  @Test(
    "hits, validations, tunnels, purges and refusals are not missed, also if they broke off",
    arguments: [
      "hit", "stale", "validated", "tunnel", "own", "purge", "pass", "refused", "bad-request", "no-route",
      "hit-aborted",
    ])
  func others(outcome: String) {
    #expect(!MissedTargets.counts(.sample(outcome: outcome)))
    #expect(MissedTargets.counts(.sample(outcome: "miss")))
    #expect(MissedTargets.counts(.sample(outcome: "miss-aborted")))
  }

  @Test(
    "requests with a method that no cache answers are not missed",
    arguments: [
      ("GET", true), ("HEAD", true), ("QUERY", true), ("POST", false), ("DELETE", false), ("PURGE", false),
    ])
  func methods(method: String, counts: Bool) {
    var entry = AccessLog.Entry.sample(outcome: "miss")
    entry.method = method
    #expect(MissedTargets.counts(entry) == counts)
  }

  @Test(
    "of more targets than fit, one with many requests stays, and its count is at most off by its uncertainty")
  func bound() {
    var targets = MissedTargets(capacity: 8)
    for number in 0..<1_000 {
      targets.add(.sample(target: "/\(number)", outcome: "miss"))
      if number % 4 == 0 { targets.add(.sample(target: "/often", outcome: "miss")) }
    }
    #expect(targets.targets.count == 8)
    let often = targets.targets.first { $0.target == "/often" }
    #expect(often.map { $0.count >= 250 && $0.count - $0.uncertainty <= 250 } == true)
  }

  @Test("two hosts with one path are two targets")
  func hosts() {
    var targets = MissedTargets()
    for host in ["a.test", "b.test", "a.test"] {
      var entry = AccessLog.Entry.sample(target: "/x", outcome: "miss")
      entry.host = host
      targets.add(entry)
    }
    let counts = targets.targets.sorted { $0.host < $1.host }.map { "\($0.host)\($0.target) \($0.count)" }
    #expect(counts == ["a.test/x 2", "b.test/x 1"])
  }

  @Test("a long target is cut, so that a client cannot fill the memory")
  func length() {
    var targets = MissedTargets()
    targets.add(.sample(target: String(repeating: "a", count: 60_000), outcome: "miss"))
    #expect(targets.targets.first?.target.utf8.count == 1_024)
  }

  @Test("totals of an interval, and the times in which shares of its requests ended")
  func totals() {
    let traffic = Traffic(loops: [])
    func add(_ microseconds: Int64, status: Int = 200) {
      traffic.part(of: EmbeddedEventLoop()).add(
        .sample(outcome: "miss", status: status, bytes: 1, microseconds: microseconds))
    }
    add(60_000_000)
    let before = traffic.totals
    for _ in 0..<99 { add(80) }
    add(2_000, status: 502)
    let interval = traffic.totals - before
    #expect(interval.requests == 100 && interval.bytes == 100 && interval.serverErrors == 1)
    #expect(interval.outcomes == ["miss": 100])
    #expect(interval.percentile(0.5).map { $0 > 0.000_05 && $0 <= 0.000_1 } == true)
    #expect(interval.percentile(1).map { $0 > 0.001 && $0 <= 0.002_5 } == true)
    #expect(TrafficTotals().percentile(0.5) == nil)
  }

  @Test(
    "subscribers get the requests that finish after they subscribed, at most 1,000 that they did not take")
  func feed() async {
    let feed = RequestFeed()
    feed.send(.sample(target: "/before"))
    let requests = feed.subscribe()
    for number in 0..<1_010 { feed.send(.sample(target: "/\(number)")) }
    var iterator = requests.makeAsyncIterator()
    #expect(await iterator.next()?.target == "/10")
  }
}
