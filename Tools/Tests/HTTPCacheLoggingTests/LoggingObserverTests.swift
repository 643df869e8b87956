import HTTPCacheLogging
import HTTPCacheTesting
import HTTPCaching
import Logging
import Testing

@Suite(.timeLimit(.minutes(10))) struct LoggingObserverTests {
  private let record = RecordingLogHandler.Record()

  private func logger(_ level: Logger.Level = .trace) -> Logger {
    var logger = Logger(label: "cache") { [record] _ in RecordingLogHandler(record: record) }
    logger.logLevel = level
    return logger
  }

  private let key = CacheKey(
    mode: .private, partition: "anna", target: "http://example.com/a?secret=1")

  @Test("events of a request are logged: levels by event, the target without its query")
  func exchange() async throws {
    var configuration = HTTPCache.Configuration(observer: LoggingObserver(logger()))
    configuration.clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
    let cache = try HTTPCache.open(configuration)
    let upstream = ScriptedUpstream([
      .init(headers: ["Cache-Control": "max-age=60"], body: "hello"), .failure(.unreachable),
    ])
    let request = HTTPRequest(
      method: .get, scheme: "http", authority: "example.com", path: "/a?secret=1")
    for _ in 0..<2 {
      let response = try await cache.respond(to: request, via: upstream)
      _ = try await response.body.collect()
    }
    var other = request
    other.path = "/b"
    await #expect(throws: UpstreamError.self) { try await cache.respond(to: other, via: upstream) }
    let byEvent = Dictionary(grouping: record.entries) { $0.metadata["cache.event"] ?? "" }
    let answered = try #require(byEvent["answered"])
    #expect(answered.map(\.level) == [.trace, .trace])
    #expect(
      answered.map { $0.metadata["cache.target"] } == Array(repeating: "http://example.com/a", count: 2))
    #expect(answered.last?.metadata["cache.status"] == "hit; ttl=60")
    let stored = try #require(byEvent["stored"]?.first)
    #expect(stored.level == .debug && stored.message == "stored")
    #expect(stored.metadata["cache.bytes"] == "5")
    let failed = try #require(byEvent["upstream-failed"]?.first)
    #expect(failed.level == .warning)
    #expect(failed.metadata["cache.target"] == "http://example.com/b")
    #expect(failed.metadata["cache.reason"] == "unreachable")
  }

  @Test("a failing store is an error, with the operation and the target")
  func storeFailed() {
    let error = CacheError(.noSpace, "disk full", key: key)
    LoggingObserver(logger()).observe(.storeFailed(operation: "write", error))
    let entry = record.entries.first
    #expect(entry?.level == .error && entry?.message == "the store failed")
    #expect(
      entry?.metadata == [
        "cache.event": "store-failed", "cache.target": "http://example.com/a",
        "cache.partition": "anna", "cache.operation": "write",
        "cache.reason": "no space left", "cache.error": "disk full",
      ])
  }

  @Test("an entry that was evicted while it was used is no error, and a damaged one is a warning")
  func oneEntry() {
    let observer = LoggingObserver(logger())
    for code in [CacheError.Code.unavailable, .superseded, .damaged, .io] {
      observer.observe(.storeFailed(operation: "read body", CacheError(code, "gone", key: key)))
    }
    observer.observe(.storeFailed(operation: "open", CacheError(.damaged, "begun anew")))
    #expect(record.entries.map(\.level) == [.debug, .debug, .warning, .error, .error])
  }

  @Test("a cancelled request is not a warning")
  func cancelled() {
    LoggingObserver(logger()).observe(
      .upstreamFailed(target: "http://example.com/", UpstreamError(.cancelled, "cancelled")))
    #expect(record.entries.map(\.level) == [.debug])
  }

  @Test("events of a fleet: levels, and a target without its query")
  func fleet() {
    let target = "http://example.com/a?secret=1"
    let error = SharedTierError(.timeout, "no answer")
    let change = SharedChange(uid: "u", kind: .remove, selection: .target(target))
    let events: [FleetEvent] = [
      .connected(restored: 2), .disconnected(error), .applied(change), .invalidatedAll(.absence),
      .published(key, bytes: 7), .notPublished(key, error), .failed(operation: "lock", error),
    ]
    for event in events { LoggingObserver(logger()).observe(.fleet(event)) }
    #expect(record.entries.map(\.level) == [.info, .warning, .debug, .warning, .debug, .debug, .debug])
    let place = ["cache.target": "http://example.com/a", "cache.partition": "anna"]
    let failure = ["cache.reason": "timeout", "cache.error": "no answer"]
    let expected: [[String: String]] = [
      ["cache.event": "fleet-connected", "cache.count": "2"],
      ["cache.event": "fleet-disconnected"].merging(failure) { $1 },
      ["cache.event": "fleet-applied", "cache.operation": "remove", "cache.target": "http://example.com/a"],
      ["cache.event": "fleet-invalidated-all", "cache.reason": FleetGap.absence.description],
      ["cache.event": "fleet-published", "cache.bytes": "7"].merging(place) { $1 },
      ["cache.event": "fleet-not-published"].merging(place) { $1 }.merging(failure) { $1 },
      ["cache.event": "fleet-failed", "cache.operation": "lock"].merging(failure) { $1 },
    ]
    #expect(record.entries.map(\.metadata) == expected)
    #expect(record.entries.allSatisfy { !$0.message.contains("secret") })
  }

  @Test("queries are shown if asked for")
  func queries() {
    LoggingObserver(logger(), showsQueries: true).observe(.freshened(key))
    #expect(record.entries.first?.metadata["cache.target"] == "http://example.com/a?secret=1")
  }

  @Test("the level of an event can be chosen, and nil leaves it out")
  func levels() {
    let observer = LoggingObserver(logger()) { event in
      if case .freshened = event { nil } else { .critical }
    }
    observer.observe(.freshened(key))
    observer.observe(.invalidated(target: "http://example.com/"))
    #expect(record.entries.map(\.level) == [.critical])
  }

  @Test("events below the level of the logger are not logged")
  func loggerLevel() {
    LoggingObserver(logger(.warning)).observe(.freshened(key))
    #expect(record.entries.isEmpty)
  }
}
