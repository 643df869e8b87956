import HTTPCacheSemantics
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct OutcomeTextTests {
  private func line(_ outcome: CacheOutcome, _ storage: StorageRecorder.Result? = nil) -> String {
    OutcomeText(outcome: outcome, storage: storage).line
  }

  @Test("a fresh hit tells how long it stays fresh")
  func fresh() {
    #expect(
      line(.hit(age: .seconds(120), lifetime: .seconds(3600), allowance: nil)) == "hit, fresh for 58 min")
  }

  @Test("the text of a stale hit has the time since it became stale and the allowance")
  func stale() {
    let text = line(
      .hit(age: .seconds(90), lifetime: .seconds(60), allowance: .window(.staleWhileRevalidate)))
    #expect(text.hasPrefix("hit, stale for 30 s, allowed: "))
    #expect(text.contains("RFC 5861 §3"))
    let now = CacheOutcome.hit(
      age: .seconds(60), lifetime: .seconds(60), allowance: .window(.staleWhileRevalidate))
    #expect(line(now).hasPrefix("hit, stale, allowed: "))
    #expect(EntryFreshness.stale(since: 0).text == "stale")
    #expect(EntryFreshness.stale(since: 1).text == "stale for 1 s")
  }

  @Test("a validated response tells of its 304")
  func validated() {
    #expect(line(.validated(.responseNoCache, age: .seconds(0), lifetime: .seconds(0))) == "revalidated, 304")
    #expect(
      line(
        .validated(.stale(age: .seconds(9), lifetime: .seconds(5)), age: .seconds(0), lifetime: .seconds(300))
      )
        == "revalidated, 304, fresh for 5 min")
  }

  @Test("the text of a miss says whether the response was stored")
  func miss() {
    let miss = CacheOutcome.forwarded(.miss(.absent), status: 200, storage: .store, collapsed: false)
    #expect(line(miss, .stored(bytes: 5)) == "miss, stored")
    #expect(line(miss, .notStored(.tooLarge(limit: 1))).hasPrefix("miss, not stored: "))
    #expect(line(miss) == "miss, not stored")
    // Why is said once for all responses.
    #expect(line(miss, .notStored(.storeFailed)) == "miss, not stored")
    let refused = CacheOutcome.forwarded(
      .miss(.absent), status: 200, storage: .doNotStore(.responseNoStore), collapsed: false)
    #expect(line(refused) == "miss, not stored: no-store (RFC 9111 §5.2.2.5)")
    let shared = CacheOutcome.forwarded(.miss(.absent), status: 200, storage: .store, collapsed: true)
    #expect(line(shared) == "miss, from another request's transfer")
  }

  @Test("a miss for another reason than absence tells it")
  func policyMiss() {
    let text = line(
      .forwarded(.miss(.policy(.reload)), status: 200, storage: .store, collapsed: false),
      .stored(bytes: 1))
    #expect(text.hasPrefix("miss ("))
    #expect(text.hasSuffix("), stored"))
  }

  @Test("the event of storing overrides the decision from the head")
  func eventWins() {
    let promised = CacheOutcome.forwarded(.miss(.absent), status: 200, storage: .store, collapsed: false)
    #expect(!OutcomeText(outcome: promised, storage: .notStored(.incomplete)).isStored)
    #expect(OutcomeText(outcome: promised, storage: .notStored(.incomplete)).refusal == .incomplete)
    #expect(OutcomeText(outcome: promised, storage: .stored(bytes: 1)).isStored)
  }

  @Test("the recorder keeps the result of each target and warns of a broken store once")
  func recorder() {
    let warnings = LineRecorder()
    let recorder = StorageRecorder { warnings.add($0) }
    recorder.observe(.stored(CacheKey(mode: .private, target: "http://a/"), bytes: 7))
    recorder.observe(.notStored(target: "http://b/", .responseNoStore))
    for _ in 0..<2 {
      recorder.observe(.storeFailed(operation: "write", CacheError(.noSpace, "full")))
    }
    #expect(recorder.result(for: "http://a/") == .stored(bytes: 7))
    #expect(recorder.result(for: "http://b/") == .notStored(.responseNoStore))
    #expect(recorder.result(for: "http://c/") == nil)
    #expect(warnings.lines.count == 1)
  }

  @Test("the recorder names a damaged response, and an evicted one not at all: responses are still stored")
  func oneEntry() {
    let warnings = LineRecorder()
    let recorder = StorageRecorder { warnings.add($0) }
    for operation in ["open body", "read body"] {
      recorder.observe(.storeFailed(operation: operation, CacheError(.unavailable, "evicted")))
    }
    #expect(warnings.lines.isEmpty)
    recorder.observe(.storeFailed(operation: "open body", CacheError(.damaged, "too short")))
    #expect(warnings.lines == ["a stored response is damaged, and counts as not stored (damaged: too short)"])
    recorder.observe(.storeFailed(operation: "store", CacheError(.noSpace, "full")))
    #expect(warnings.lines.last?.hasSuffix("; responses are not stored") == true)
  }

  @Test("each kind of failure has its own exit status")
  func statuses() {
    let statuses = UpstreamError.Kind.allCases.map { ExitStatus($0) }
    #expect(Set(statuses).count == UpstreamError.Kind.allCases.count)
    #expect(!statuses.contains(.success))
    #expect(ExitStatus(CacheError.Code.newerFormat) == .newerFormat)
    #expect(Set(ExitStatus.allCases.map(\.rawValue)).count == ExitStatus.allCases.count)
  }

  @Test("the report of an unsatisfiable request ends with its own status")
  func unsatisfiable() {
    let report = TransferReport(
      url: "http://a/", elapsed: .zero,
      ending: .answered(
        TransferReport.Answer(
          status: 504, outcome: .unsatisfiable(.miss(.absent)), bytes: 0, finalTarget: "http://a/",
          redirects: 0)))
    #expect(report.exitStatus(failing: false) == .notStored)
    #expect(report.line.hasPrefix("http://a/: not in the cache, and --policy cache-only forbids"))
    #expect(report.json.outcome == "unsatisfiable")
  }

  @Test("freshness of a listing follows age and lifetime")
  func freshness() {
    var response = StoredResponse(
      requestMethod: .get, nominated: [], head: HTTPResponse(status: .ok),
      requestTime: Timestamp(seconds: 1000), responseTime: Timestamp(seconds: 1000),
      facts: ReuseFacts(freshnessLifetime: 100, lifetimeSource: .maxAge, correctedInitialAge: 10))
    func state(_ seconds: Int64) -> EntryFreshness {
      EntryFreshness(response, now: Timestamp(seconds: seconds))
    }
    #expect(state(1000) == .fresh(left: 90))
    #expect(state(1089) == .fresh(left: 1))
    #expect(state(1090) == .stale(since: 0))
    #expect(state(1200) == .stale(since: 110))
    // A clock that went back makes nothing fresher than it was when it arrived.
    #expect(state(10) == .fresh(left: 90))
    response.isInvalidated = true
    #expect(state(1000) == .invalidated)
    response.isInvalidated = false
    response.facts.directives = [.noCache]
    #expect(state(1000) == .alwaysValidated)
  }
}
