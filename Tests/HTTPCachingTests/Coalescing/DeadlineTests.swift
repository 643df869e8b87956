import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

@Suite("Deadlines are the caller's", .timeLimit(.minutes(5)))
struct DeadlineTests {
  private let test = TestCache()

  private var limited: RequestOptions { RequestOptions(timeout: .seconds(5)) }

  /// Waits until this many requests wait for a leader or the origin, each with a limit.
  private func waiting(_ count: Int) async throws { try await until { test.clock.sleeperCount == count } }

  /// How a request ended, once it has.
  private final class Ending: Sendable {
    private let result = Mutex<Result<TestAnswer, any Error>?>(nil)
    var isThere: Bool { result.withLock { $0 != nil } }
    var answer: TestAnswer? { result.withLock { try? $0?.get() } }
    var errorKind: UpstreamError.Kind? {
      result.withLock {
        guard case .failure(let error) = $0 else { return nil }
        return (error as? UpstreamError)?.kind
      }
    }
    func set(_ new: Result<TestAnswer, any Error>) { result.withLock { $0 = new } }
  }

  private func begin(_ work: @escaping @Sendable () async throws -> TestAnswer) -> Ending {
    let ending = Ending()
    Task {
      do { ending.set(.success(try await work())) } catch { ending.set(.failure(error)) }
    }
    return ending
  }

  @Test("a follower waits for another request's head no longer than its own timeout")
  func follower() async throws {
    test.origin.always(200, [.cacheControl: "max-age=10"], "body")
    test.origin.hold()
    let leader = begin { try await test.get("/") }
    await test.origin.arrived(1)
    let follower = begin { try await test.get("/", options: limited) }
    try await waiting(1)
    test.clock.advance(by: 4)
    #expect(!follower.isThere)
    test.clock.advance(by: 1)
    try await until { follower.isThere }
    #expect(follower.errorKind == .timeout)
    test.origin.release()
    try await until { leader.isThere && follower.isThere }
    #expect(leader.answer?.text == "body")
    #expect(test.origin.requests.count == 1)
  }

  @Test(
    "a follower whose time has passed is answered with a stale response where that is allowed (RFC 9111 §4.2.4)"
  )
  func staleFollower() async throws {
    try await test.store([.cacheControl: "max-age=10", .eTag: "\"1\""], "old", age: 20)
    test.origin.always(200, [.cacheControl: "max-age=10"], "new")
    test.origin.hold()
    let leader = begin { try await test.get("/") }
    await test.origin.arrived(2)
    let follower = begin { try await test.get("/", options: limited) }
    try await waiting(1)
    test.clock.advance(by: 5)
    try await until { follower.isThere }
    #expect(follower.answer?.text == "old")
    test.origin.release()
    try await until { leader.isThere && follower.isThere }
    #expect(leader.answer?.text == "new")
    guard case .hit(_, _, .disconnected)? = follower.answer?.outcome else {
      Issue.record("\(String(describing: follower.answer?.outcome))")
      return
    }
  }

  @Test(
    "a follower whose time has passed gets no stale response that must be revalidated (RFC 9111 §5.2.2.2)")
  func mustRevalidate() async throws {
    try await test.store([.cacheControl: "max-age=10, must-revalidate", .eTag: "\"1\""], "old", age: 20)
    test.origin.hold()
    let leader = begin { try await test.get("/") }
    await test.origin.arrived(2)
    let follower = begin { try await test.get("/", options: limited) }
    try await waiting(1)
    test.clock.advance(by: 5)
    try await until { follower.isThere }
    #expect(follower.errorKind == .timeout)
    test.origin.release()
    try await until { leader.isThere }
  }

  @Test("a follower that leads in the end gives the upstream what is left of its time")
  func whatIsLeft() async throws {
    let gate = Gate()
    let upstream = ScriptedUpstream([
      ScriptedResponse.failure(.unreachable).stallingBeforeHead(at: gate),
      ScriptedResponse(headers: ["Cache-Control": "max-age=10"], body: "body"),
    ])
    let leader = Task { try await get(upstream, RequestOptions()) }
    await upstream.waitForRequests(1)
    let follower = Task { try await get(upstream, limited) }
    try await waiting(1)
    test.clock.advance(by: 3)
    gate.open()
    #expect(try await follower.value == "body")
    #expect(upstream.requests.last?.request.timeout == .seconds(2))
    _ = await leader.result
  }

  @Test("leaders that have no more time do not make requests fail that have more")
  func leadersTime() async throws {
    let gates = [Gate(), Gate()]
    let upstream = ScriptedUpstream([
      ScriptedResponse.failure(.timeout).stallingBeforeHead(at: gates[0]),
      ScriptedResponse.failure(.timeout).stallingBeforeHead(at: gates[1]),
      ScriptedResponse(headers: ["Cache-Control": "max-age=10"], body: "body"),
    ])
    var tasks: [Task<String, any Error>] = []
    for (number, seconds) in [5, 6, 60].enumerated() {
      tasks.append(Task { try await get(upstream, RequestOptions(timeout: .seconds(seconds))) })
      if number == 0 { await upstream.waitForRequests(1) }
      try await waiting(number + 1)
    }
    for (number, gate) in gates.enumerated() {
      test.clock.advance(by: number == 0 ? 5 : 1)
      gate.open()
      try await until { upstream.requestCount >= number + 2 }
    }
    await #expect(throws: UpstreamError.self) { try await tasks[0].value }
    await #expect(throws: UpstreamError.self) { try await tasks[1].value }
    #expect(try await tasks[2].value == "body")
  }

  @Test("a follower that is given no byte of a transfer that breaks off asks for itself")
  func brokenTransfer() async throws {
    let gate = Gate()
    let requests = Mutex(0)
    test.origin.streams([.cacheControl: "max-age=10"]) { _ in
      let number = requests.withLock { count in
        count += 1
        return count
      }
      return number == 1
        ? TestBody(piece: [1], count: 9, announced: 9, failsAt: 0, gate: (at: 0, gate: gate))
        : TestBody(piece: [1], count: 9, announced: 9)
    }
    let leader = try await test.respond("/")
    let follower = begin { try await test.get("/", options: limited) }
    try await waiting(1)
    gate.open()
    try await until { follower.isThere }
    #expect(follower.answer?.text.utf8.count == 9)
    await #expect(throws: UpstreamError.self) { try await leader.body.collect() }
    #expect(test.origin.requests.count == 2)
  }

  @Test("finishing background work keeps its limit, whatever an upstream does")
  func backgroundWork() async throws {
    try await test.store([.cacheControl: "max-age=10, stale-while-revalidate=60"], "old", age: 20)
    let gate = Gate()
    let deaf = ScriptedUpstream { _ in
      // A separate task, which is not cancelled with the caller.
      _ = await Task { try await gate.pass() }.result
      return .failure(.unreachable)
    }
    let stale = try await test.cache.respond(to: test.request("/"), via: deaf)
    #expect(try await stale.body.collect().count == 3)
    await gate.waitForArrivals(1)
    let isFinished = Mutex(false)
    let finishing = Task {
      await test.cache.finishBackgroundWork(within: .seconds(5))
      isFinished.withLock { $0 = true }
    }
    await test.clock.waitForSleepers()
    test.clock.advance(by: 5)
    try await until { isFinished.withLock { $0 } }
    gate.open()
    await finishing.value
  }

  @Test("finishing background work returns when all of it is done")
  func backgroundWorkDone() async throws {
    try await test.store([.cacheControl: "max-age=10, stale-while-revalidate=60"], "old", age: 20)
    test.origin.hold()
    try await test.get("/")
    await test.origin.arrived(2)
    async let finished: Void = test.cache.finishBackgroundWork(within: .seconds(5))
    await test.clock.waitForSleepers()
    test.origin.release()
    await finished
    await test.cache.finishBackgroundWork(within: .zero)
    #expect(test.clock.uptime == .seconds(20))
  }

  private func get(_ upstream: ScriptedUpstream, _ options: RequestOptions) async throws -> String {
    let response = try await test.cache.respond(
      to: test.request("/"), options: options, via: upstream)
    return String(decoding: try await response.body.collect().array, as: UTF8.self)
  }
}
