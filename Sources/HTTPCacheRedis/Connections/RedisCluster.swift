#if Redis
  import HTTPCaching
  import NIOCore
  import Synchronization

  /// The servers of a cluster, or one server that belongs to none. It asks the servers which of them has which keys,
  /// and asks again after each redirection and after each connection that failed: a server that died redirects nothing.
  final class RedisCluster: Sendable {
    private enum Layout {
      /// No server has told yet.
      case unknown
      /// The server has all keys.
      case single
      case slots(RedisSlotMap)
      case invalid(SharedTierError)
    }

    private struct State {
      var layout = Layout.unknown
      var nodes: [RedisEndpoint: RedisNode] = [:]
      /// The place in `seeds` of the server to ask while the layout is unknown.
      var seed = 0
      var refresh: Task<Void, Never>?
      var refreshed: NIODeadline?
      var isClosed = false
    }

    /// The shortest time between two questions for the layout.
    private static let pause = TimeAmount.milliseconds(100)
    private static let mostRedirections = 5
    private let seeds: [RedisEndpoint]
    private let settings: RedisSettings
    private let state = Mutex(State())

    /// - Parameter seeds: not empty.
    init(_ seeds: [RedisEndpoint], _ settings: RedisSettings) {
      self.seeds = seeds
      self.settings = settings
    }

    deinit { for node in state.withLock({ $0.nodes.values }) { node.close() } }

    // MARK: Sending

    /// Sends the commands of some requests; those for one server are written together, in order.
    ///
    /// - Returns: the replies to each request, in order. An error is among them only if it is `NOSCRIPT` or says that
    ///   there is no such key.
    /// - Throws: the first other error of a reply; `timeout` at the deadline.
    func send(
      _ requests: [RedisRequest], on lane: RedisLane, by deadline: RedisDeadline
    ) async throws(SharedTierError) -> [[RESPValue]] {
      var groups: [(node: RedisNode, places: [Int])] = []
      for (place, request) in requests.enumerated() {
        let node = try node(for: request.key)
        if let index = groups.firstIndex(where: { $0.node === node }) {
          groups[index].places.append(place)
        } else {
          groups.append((node, [place]))
        }
      }
      if groups.count == 1 { return try await send(requests, to: groups[0].node, on: lane, by: deadline) }
      let outcomes = await withTaskGroup(of: ([Int], Result<[[RESPValue]], SharedTierError>).self) { tasks in
        for group in groups {
          let own = group.places.map { requests[$0] }
          tasks.addTask {
            (group.places, await self.outcome(of: own, to: group.node, on: lane, by: deadline))
          }
        }
        var outcomes: [([Int], Result<[[RESPValue]], SharedTierError>)] = []
        for await outcome in tasks { outcomes.append(outcome) }
        return outcomes
      }
      var replies = [[RESPValue]](repeating: [], count: requests.count)
      for (places, outcome) in outcomes {
        for (place, own) in zip(places, try outcome.get()) { replies[place] = own }
      }
      return replies
    }

    private func outcome(
      of requests: [RedisRequest], to node: RedisNode, on lane: RedisLane, by deadline: RedisDeadline
    ) async -> Result<[[RESPValue]], SharedTierError> {
      do throws(SharedTierError) {
        return .success(try await send(requests, to: node, on: lane, by: deadline))
      } catch {
        return .failure(error)
      }
    }

    /// Sends requests to a server; those that it redirects, to the other server.
    private func send(
      _ requests: [RedisRequest], to node: RedisNode, on lane: RedisLane, by deadline: RedisDeadline
    ) async throws(SharedTierError) -> [[RESPValue]] {
      var rest = try await ask(node, requests.flatMap(\.commands), on: lane, by: deadline)[...]
      var replies: [[RESPValue]] = []
      for request in requests {
        var own = Array(rest.prefix(request.commands.count))
        rest = rest.dropFirst(request.commands.count)
        if let redirection = Self.redirection(of: own, askedAt: node.endpoint) {
          own = try await follow(redirection, request, from: node, on: lane, by: deadline)
        }
        try check(own, from: node)
        replies.append(own)
      }
      return replies
    }

    private func follow(
      _ first: RedisRedirection, _ request: RedisRequest, from node: RedisNode, on lane: RedisLane,
      by deadline: RedisDeadline
    ) async throws(SharedTierError) -> [RESPValue] {
      var (node, redirection, isAsking) = (node, first, false)
      for _ in 0..<Self.mostRedirections {
        switch redirection {
        case .moved(let endpoint):
          (node, isAsking) = (self.node(at: endpoint), false)
          startRefresh()
        case .ask(let endpoint): (node, isAsking) = (self.node(at: endpoint), true)
        case .tryAgain: break
        }
        let asking: RedisCommand = ["ASKING"]
        let commands = isAsking ? request.commands.flatMap { [asking, $0] } : request.commands
        var replies = try await ask(node, commands, on: lane, by: deadline)
        if isAsking { replies = replies.indices.filter { $0 % 2 == 1 }.map { replies[$0] } }
        guard let next = Self.redirection(of: replies, askedAt: node.endpoint) else { return replies }
        redirection = next
      }
      throw SharedTierError(.unavailable, "\(node.endpoint): more than \(Self.mostRedirections) redirections")
    }

    /// Sends commands to a server; asks for the layout if that fails.
    private func ask(
      _ node: RedisNode, _ commands: [RedisCommand], on lane: RedisLane, by deadline: RedisDeadline
    ) async throws(SharedTierError) -> [RESPValue] {
      if lane == .newLog {
        // Should the log come back to another server, its changes are read after a new state only.
        for other in state.withLock({ Array($0.nodes.values) }) where other !== node { other.closeLog() }
      }
      do {
        return try await node.send(commands, on: lane, by: deadline)
      } catch {
        state.withLock { $0.seed = ($0.seed + 1) % seeds.count }
        startRefresh()
        throw error
      }
    }

    private static func redirection(of replies: [RESPValue], askedAt asked: RedisEndpoint)
      -> RedisRedirection?
    {
      for reply in replies {
        if let redirection = RedisRedirection(reply, askedAt: asked) { return redirection }
      }
      return nil
    }

    /// Throws the first error of replies that their asker does not await.
    private func check(_ replies: [RESPValue], from node: RedisNode) throws(SharedTierError) {
      for case .error(let text) in replies {
        guard let error = SharedTierError(reply: text) else { continue }
        if text.hasPrefix("READONLY") || text.hasPrefix("CLUSTERDOWN") || text.hasPrefix("MASTERDOWN") {
          // The name of a primary may lead to another server now.
          if text.hasPrefix("READONLY") { node.reconnect() }
          startRefresh()
        }
        throw SharedTierError(error.kind, "\(node.endpoint): \(error.message)")
      }
    }

    // MARK: Servers

    private func node(for key: [UInt8]) throws(SharedTierError) -> RedisNode {
      let (endpoint, isKnown): (Result<RedisEndpoint, SharedTierError>, Bool) = state.withLock { state in
        switch state.layout {
        case .unknown: return (.success(seeds[state.seed]), false)
        case .single: return (.success(seeds[0]), true)
        case .slots(let map):
          if let endpoint = map[RedisSlot.of(key)] { return (.success(endpoint), true) }
          return (
            .failure(SharedTierError(.unavailable, "no server of the cluster has the slot of the key")), false
          )
        case .invalid(let error): return (.failure(error), true)
        }
      }
      if !isKnown { startRefresh() }
      return node(at: try endpoint.get())
    }

    private func node(at endpoint: RedisEndpoint) -> RedisNode {
      state.withLock { state in
        if let node = state.nodes[endpoint] { return node }
        let node = RedisNode(endpoint, settings)
        if state.isClosed { node.close() } else { state.nodes[endpoint] = node }
        return node
      }
    }

    // MARK: The layout

    /// Asks for the layout in the background, unless that was done a moment ago.
    private func startRefresh() { _ = refresh(after: Self.pause) }

    /// The question for the layout that is under way, or a new one; nil if the last one was answered within `pause`.
    private func refresh(after pause: TimeAmount) -> Task<Void, Never>? {
      state.withLock { state in
        if let refresh = state.refresh { return refresh }
        guard !state.isClosed, state.refreshed.map({ $0 + pause <= .now() }) ?? true else { return nil }
        switch state.layout {
        case .single, .invalid: return nil
        case .unknown, .slots: break
        }
        let known = Array(state.nodes.keys).shuffled() + seeds
        let task = Task { [weak self] in
          for endpoint in known {
            guard let self else { return }
            if let layout = await self.layout(askedAt: endpoint) { return self.take(layout) }
          }
          self?.take(nil)
        }
        state.refresh = task
        return task
      }
    }

    private func layout(askedAt endpoint: RedisEndpoint) async -> Layout? {
      let node = node(at: endpoint)
      let deadline = RedisDeadline(settings.limits.layout)
      guard let reply = try? await node.send([["CLUSTER", "SLOTS"]], on: .questions, by: deadline).first
      else { return nil }
      if case .error(let text) = reply {
        // No cluster; or a server, a proxy or permissions that do not know the command.
        guard SharedTierError(reply: text)?.kind == .refused, !text.hasPrefix("NOAUTH") else { return nil }
        guard seeds.count == 1 else {
          return .invalid(
            SharedTierError(.refused, "\(endpoint): several hosts are given, and this one is in no cluster"))
        }
        return .single
      }
      return RedisSlotMap(reply, askedAt: endpoint).map { .slots($0) }
    }

    private func take(_ layout: Layout?) {
      let unused: [RedisNode] = state.withLock { state in
        state.refresh = nil
        state.refreshed = .now()
        guard let layout else { return [] }
        state.layout = layout
        guard case .slots(let map) = layout else { return [] }
        let unused = state.nodes.keys.filter { !map.endpoints.contains($0) }
        return unused.compactMap { state.nodes.removeValue(forKey: $0) }
      }
      for node in unused { node.close() }
    }

    // MARK: Housekeeping

    /// Removes the keys that match a pattern from all servers, in steps.
    ///
    /// - Parameter step: the longest time of each step.
    func remove(matching pattern: String, within step: Duration) async throws(SharedTierError) {
      await refresh(after: .zero)?.value
      let endpoints: Result<[RedisEndpoint], SharedTierError> = state.withLock { state in
        switch state.layout {
        case .unknown: .failure(SharedTierError(.unreachable, "no server tells which servers there are"))
        case .single: .success([seeds[0]])
        case .slots(let map): .success(map.endpoints)
        case .invalid(let error): .failure(error)
        }
      }
      for endpoint in try endpoints.get() {
        let node = node(at: endpoint)
        let sweep = RedisSweep(endpoint: endpoint, pattern: pattern)
        try await sweep.run { (commands: [RedisCommand]) async throws(SharedTierError) -> [RESPValue] in
          let replies = try await ask(node, commands, on: .bodies, by: RedisDeadline(step))
          try check(replies, from: node)
          return replies
        }
      }
    }

    /// Closes all connections. Nothing can be sent afterwards.
    func close() async {
      let (nodes, refresh) = state.withLock { state in
        state.isClosed = true
        defer { state.nodes = [:] }
        return (Array(state.nodes.values), state.refresh)
      }
      refresh?.cancel()
      for node in nodes { node.close() }
    }
  }
#endif
