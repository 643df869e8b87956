import HTTPCacheTesting
import HTTPCaching

/// Caches of several nodes that share a tier in memory, one origin, and a clock that stands still.
struct TestFleet: Sendable {
  struct Node: Sendable {
    let name: String
    let cache: HTTPCache
    let tier: LoopbackTier
    let events: EventLog
    let origin: any Upstream
    let clock: ManualClock

    func respond(
      _ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get,
      policy: CachePolicy = .standard, options: RequestOptions = RequestOptions()
    ) async throws -> CacheResponse {
      try await cache.respond(
        to: TestFleet.request(path, fields, method: method), policy: policy, options: options, via: origin)
    }

    /// The answer, after its publication.
    @discardableResult
    func get(
      _ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get,
      policy: CachePolicy = .standard, options: RequestOptions = RequestOptions()
    ) async throws -> TestAnswer {
      let response = try await respond(path, fields, method: method, policy: policy, options: options)
      let answer = try await TestAnswer(reading: response)
      await settle()
      return answer
    }

    /// Waits until everything in the background is done.
    func settle() async { await cache.finishBackgroundWork(within: .seconds(3_600)) }

    func count(_ matches: (FleetEvent) -> Bool) -> Int {
      events.count { if case .fleet(let event) = $0 { matches(event) } else { false } }
    }

    func wait(count: Int = 1, _ matches: @escaping @Sendable (FleetEvent) -> Bool) async {
      await events.wait(count: count) { if case .fleet(let event) = $0 { matches(event) } else { false } }
    }
  }

  let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
  let server: LoopbackServer
  let origin = TestOrigin()
  private(set) var nodes: [Node] = []
  private let largestEntry: Int64

  /// Makes nodes that are connected.
  ///
  /// - Parameters:
  ///   - largestEntry: the largest body that the store of a node takes.
  ///   - via: the origin; nil for `origin`.
  ///   - configure: changes the configuration of a node, given its number.
  init(
    _ count: Int = 2, rules: CacheRules = CacheRules(mode: .shared), secret: [UInt8]? = nil,
    logLimit: Int = 10_000, largestBody: Int64 = 8 << 20, largestEntry: Int64 = 32 << 20,
    via upstream: (any Upstream)? = nil,
    configure: (inout HTTPCache.Configuration, Int) -> Void = { _, _ in }
  ) async {
    self.largestEntry = largestEntry
    server = LoopbackServer(clock: clock, logLimit: logLimit)
    for number in 0..<count {
      let tier = LoopbackTier(server, secret: secret, largestBody: largestBody)
      nodes.append(await node("n\(number)", number, tier, rules, via: upstream, configure: configure))
    }
  }

  /// Two nodes, of which the first has stored a 200 of the origin, and published it.
  static func storing(_ fields: HTTPFields, _ text: String) async throws -> TestFleet {
    let fleet = await TestFleet()
    fleet.origin.always(200, fields, text)
    try await fleet.nodes[0].get("/")
    return fleet
  }

  /// Nodes that all have a response for each path, whose text is the number of its request.
  static func filled(
    _ count: Int = 2, _ paths: [String] = ["/"], logLimit: Int = 10_000
  ) async throws -> TestFleet {
    let fleet = await TestFleet(count, logLimit: logLimit)
    fleet.origin.answers { _, number in (200, [.cacheControl: "max-age=600"], "\(number)") }
    for node in fleet.nodes { for path in paths { try await node.get(path) } }
    return fleet
  }

  private func node(
    _ name: String, _ number: Int, _ tier: LoopbackTier, _ rules: CacheRules, via upstream: (any Upstream)?,
    configure: (inout HTTPCache.Configuration, Int) -> Void
  ) async -> Node {
    let events = EventLog()
    var configuration = HTTPCache.Configuration(rules: rules, observer: events, clock: clock)
    configuration.shared = tier
    configuration.fleet.nodeName = name
    configure(&configuration, number)
    let cache = HTTPCache(
      configuration: configuration,
      store: MemoryStore(capacity: 64 << 20, largestEntry: .bytes(largestEntry), clock: clock))
    await cache.join(within: .seconds(60))
    return Node(
      name: name, cache: cache, tier: tier, events: events, origin: upstream ?? origin, clock: clock)
  }

  static func request(
    _ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get
  ) -> HTTPRequest {
    HTTPRequest(
      method: method, scheme: "https", authority: "example.com", path: path, headerFields: fields)
  }

  static func target(_ path: String) -> String { "https://example.com" + path }

  static func key(_ path: String, mode: CacheMode = .shared) -> CacheKey {
    CacheKey(mode: mode, target: target(path))
  }

  /// Waits until each node has applied all changes.
  func applied() async {
    for node in nodes { await server.waitUntilApplied(by: node.name) }
  }

  /// Moves the clock in steps until a condition holds.
  func advance(by step: Duration = .milliseconds(100), until condition: () -> Bool) async {
    while !condition(), !Task.isCancelled {
      clock.advance(by: step)
      for _ in 0..<20 { await Task.yield() }
      // Several such loops at once would leave no thread to the tasks that they wait for.
      try? await Task.sleep(for: .milliseconds(1))
    }
  }

  /// Moves the clock in steps until a task has ended.
  func advancing<Value: Sendable>(
    by step: Duration = .milliseconds(10), while task: Task<Value, any Error>
  ) async throws -> Value {
    let isDone = WatchedState(false)
    let watch = Task {
      _ = await task.result
      isDone.withLock { $0 = true }
    }
    await advance(by: step) { isDone.withLock { $0 } }
    await watch.value
    return try await task.value
  }
}
