import HTTPCaching
import Testing

@testable import HTTPCacheSimulation
import HTTPCacheTesting

/// The oracle tells wrong answers from right ones.
@Suite(.timeLimit(.minutes(10))) struct OracleTests {
  private let scheduler = Scheduler(
    random: SeededGenerator(seed: 1), weights: Scheduler.Weights(), keepsNotes: false)

  private func origin(_ target: WorldPlan.Target, _ fleet: FleetPlan?) -> SimulatedOrigin {
    var plan = WorldPlan()
    plan.fleet = fleet
    plan.targets = [target]
    return SimulatedOrigin(plan: plan, scheduler: scheduler, random: SeededGenerator(seed: 2))
  }

  /// Asks the origin, and gives its answer, changed, to the oracle.
  private func kinds(
    _ target: WorldPlan.Target = WorldPlan.Target(path: "/a"), asked form: String = "a",
    sentTo sender: Int = 0, floor: Int? = nil, outcome: CacheOutcome? = nil, waits: Duration = .zero,
    range: Range<Int>? = nil, fleet: FleetPlan? = nil,
    change: (inout HTTPResponse, inout [UInt8]) -> Void = { _, _ in }
  ) -> [Violation.Kind] {
    let origin = origin(target, fleet)
    let oracle = Oracle(origin: origin)
    if let floor {
      oracle.add(
        Oracle.Floor(cause: .unsafe, process: 0, target: 0, partition: nil, version: floor, begun: 0))
    }
    let request = HTTPRequest(
      method: .get, scheme: "https", authority: SimulatedOrigin.authority, path: "/a",
      headerFields: [.form: "a"])
    var (head, body, _) = origin.process(request, client: sender)
    change(&head, &body)
    scheduler.advance(by: waits)
    let response = CacheResponse(
      head: head, body: .empty,
      outcome: outcome ?? .forwarded(.miss(.absent), status: 200, storage: .store, collapsed: false),
      finalTarget: "")
    oracle.check(
      response, body: body, to: Operation.Client(form: form, range: range), client: 0,
      began: Beginning(uptime: scheduler.uptime, endedInvalidations: oracle.endedInvalidations))
    return oracle.violations.map(\.kind)
  }

  @Test("an answer as the origin sent it is right")
  func right() { #expect(kinds().isEmpty) }

  @Test("a body that lacks its last byte is told (RFC 9111 §3.3)")
  func cutBody() { #expect(kinds { $1.removeLast() } == [.brokenBody]) }

  @Test("a body with a byte of another one is told (RFC 9111 §3.4)")
  func mixedBody() { #expect(kinds { $1[$1.count - 1] ^= 1 } == [.brokenBody]) }

  @Test("a part that is not the range that was asked for is told (RFC 9111 §3.3)")
  func otherPart() {
    func part(_ range: Range<Int>, asked: Range<Int>?) -> [Violation.Kind] {
      kinds(range: asked) { head, body in
        head.status = .partialContent
        head.headerFields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"
        body = Array(body[range])
      }
    }
    #expect(part(3..<9, asked: 3..<9).isEmpty)
    #expect(part(3..<9, asked: 3..<10) == [.brokenBody])
    #expect(part(3..<9, asked: 2..<9) == [.brokenBody])
    #expect(part(3..<9, asked: 3..<(.max)) == [.brokenBody])
    #expect(part(3..<9, asked: nil) == [.brokenBody])
  }

  @Test("the variant of another form is told (RFC 9111 §4.1)")
  func variant() { #expect(kinds(asked: "b") == [.wrongVariant]) }

  @Test("the head of another version is told (RFC 9111 §4.3.4)")
  func head() { #expect(kinds { head, _ in head.headerFields[.representation] = "t0.a.v7" } == [.wrongHead]) }

  @Test("an answer older than an invalidation that had ended is told (RFC 9111 §4.4)")
  func stale() {
    #expect(kinds(floor: 2) == [.staleAfterUnsafe])
    #expect(kinds(floor: 1).isEmpty)
  }

  @Test("no-store for another client is told (RFC 9111 §3)")
  func leak() {
    let target = WorldPlan.Target(path: "/a", unstorableEvery: 1)
    #expect(kinds(target, sentTo: 3) == [.leaked])
    #expect(kinds(target).isEmpty)
  }

  @Test("a fresh hit that outlived its lifetime is told (RFC 9111 §4.2)")
  func outlived() {
    let target = WorldPlan.Target(path: "/a", lifetime: 5)
    func hit(_ age: Int) -> CacheOutcome {
      .hit(age: .seconds(age), lifetime: .seconds(5), allowance: nil)
    }
    #expect(kinds(target, outcome: hit(9), waits: .seconds(9)) == [.staleAsFresh])
    #expect(kinds(target, outcome: hit(5), waits: .seconds(5)).isEmpty)
  }

  @Test("an answer that is older than it says is told (RFC 9111 §4.2.3)")
  func tooYoung() {
    func answer(_ age: Int) -> CacheOutcome {
      .shared(.miss(.absent), age: .seconds(age), lifetime: .seconds(1_000))
    }
    #expect(kinds(outcome: answer(6), waits: .seconds(8)) == [.tooYoung])
    #expect(kinds(outcome: answer(7), waits: .seconds(8)).isEmpty)
  }

  @Test("in a fleet, a fresh answer has a date at which the origin sent or confirmed it (RFC 9111 §4.3.4)")
  func date() {
    let answer = CacheOutcome.shared(.miss(.absent), age: .seconds(0), lifetime: .seconds(1_000))
    #expect(kinds(outcome: answer, fleet: FleetPlan()).isEmpty)
    #expect(
      kinds(outcome: answer, fleet: FleetPlan()) { head, _ in
        head.headerFields[.date] = Timestamp(seconds: 1_700_000_001).httpDate
      } == [.wrongHead])
  }
}
