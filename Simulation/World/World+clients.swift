import HTTPCaching

extension World {
  /// Starts a caller.
  func ask(_ plan: Operation.Client) {
    let number = callers.count

    let upstream = ClientUpstream(origin, client: number)
    callers.append(Caller(plan: plan, upstream: upstream))
    active += 1
    callers[number].task = scheduler.start { [self] in
      let began = Beginning(
        uptime: scheduler.uptime, endedInvalidations: oracle.endedInvalidations,
        appliedChanges: oracle.appliedChanges(plan.process))
      callers[number].began = began.uptime
      scheduler.note("client \(number) begins: \(plan)", number)
      do { try await answer(plan, number, began, upstream) } catch {
        failed(plan, number, error)
      }
      callers[number].waitsForHead = false
      callers[number].isDone = true
      active -= 1
    }
  }

  private func answer(
    _ plan: Operation.Client, _ number: Int, _ began: Beginning, _ upstream: ClientUpstream
  ) async throws {
    let response = try await caches[plan.process].respond(
      to: request(plan), policy: plan.policy,
      options: RequestOptions(partition: self.plan.partitions[plan.partition], timeout: plan.timeout),
      via: upstream)
    callers[number].waitsForHead = false
    scheduler.note("client \(number) has \(response.head.status.code) \(response.outcome)", number)
    endInvalidations(plan, upstream, response)
    var bytes: [UInt8] = []
    while true {
      if case .cancelled = await scheduler.pause(.client) { throw CancellationError() }
      guard let part = try await response.body.source.next() else { break }
      bytes += part.array
      if plan.reading == .leaves {
        response.body.source.cancel()
        return
      }
    }
    scheduler.note("client \(number) has read \(bytes.count) bytes", bytes.count)
    oracle.check(response, body: bytes, to: plan, client: number, began: began)
  }

  private func request(_ plan: Operation.Client) -> HTTPRequest {
    let method: HTTPRequest.Method =
      switch plan.method {
      case .get: .get
      case .head: .head
      case .put: .put
      }
    var request = HTTPRequest(
      method: method, scheme: SimulatedOrigin.scheme, authority: SimulatedOrigin.authority,
      path: self.plan.targets[plan.target].path, headerFields: [.form: plan.form])
    if let range = plan.range {
      let last = range.upperBound == .max ? "" : String(range.upperBound - 1)
      request.headerFields[.range] = "bytes=\(range.lowerBound)-\(last)"
    }
    if plan.clearsSite { request.headerFields[.clear] = "1" }
    if plan.invalidatesGroup { request.headerFields[.invalidateGroup] = "1" }
    return request
  }

  /// Marks what the response invalidates as invalid for all requests that begin from now on.
  private func endInvalidations(
    _ plan: Operation.Client, _ upstream: ClientUpstream, _ response: CacheResponse
  ) {
    guard (200...399).contains(response.head.status.code) else { return }
    if plan.method == .put, let versions = upstream.changed {
      oracle.add(
        Oracle.Floor(
          cause: .unsafe, process: plan.process, target: plan.target, partition: nil,
          version: versions[plan.target], begun: upstream.sentStep))
      if plan.invalidatesGroup {
        for target in versions.indices where self.plan.targets[target].isInGroup && target != plan.target {
          oracle.add(
            Oracle.Floor(
              cause: .group, process: plan.process, target: target, partition: nil, version: versions[target],
              begun: upstream.sentStep)
          )
        }
      }
    }
    guard let cleared = upstream.cleared, self.plan.mode == .private else { return }
    for target in cleared.indices {
      oracle.add(
        Oracle.Floor(
          cause: .clearSite, process: plan.process, target: target, partition: plan.partition,
          version: cleared[target], begun: upstream.sentStep))
    }
  }

  private func failed(_ plan: Operation.Client, _ number: Int, _ error: any Error) {
    scheduler.note("client \(number) failed: \(error)", number)
    guard self.plan.isFaultless, !callers[number].isCancelled else { return }
    oracle.report(.needlessError, "client \(number) failed: \(error)")
  }

  /// Changes the store independently of requests, after the origin changed the resource: used by all worlds.
  func purge(_ plan: Operation.Purge) {
    let targets = covered(by: plan)
    for target in targets { origin.change(target) }
    let versions = origin.versions
    let cache = caches[plan.process]
    let selection = selection(plan)
    scheduler.note("purge begins: \(plan)", plan.target)
    let begun = scheduler.steps
    let attempts = attemptedChanges(plan.process)
    active += 1
    scheduler.start { [self] in
      do {
        if plan.removes {
          try await cache.remove(selection)
        } else {
          _ = try await cache.invalidate(selection)
        }
        for target in targets {
          oracle.add(
            Oracle.Floor(
              cause: .purge, process: plan.process, target: target,
              partition: plan.scope == .key || plan.scope == .partition ? plan.partition : nil,
              version: versions[target], begun: begun,
              change: change(selection, of: plan.process, after: attempts)))
        }
      } catch { scheduler.note("purge failed: \(error)") }
      active -= 1
    }
  }

  private func covered(by purge: Operation.Purge) -> [Int] {
    switch purge.scope {
    case .target, .key: [purge.target]
    case .group: plan.targets.indices.filter { plan.targets[$0].isInGroup }
    case .prefix, .partition, .all: Array(plan.targets.indices)
    }
  }

  private func selection(_ purge: Operation.Purge) -> CacheSelection {
    let url = SimulatedOrigin.site + plan.targets[purge.target].path
    let partition = plan.partitions[purge.partition]
    return switch purge.scope {
    case .target: .target(url)
    case .key: .key(CacheKey(mode: plan.mode, partition: partition, target: url))
    case .prefix: .prefix(SimulatedOrigin.site + "/")
    case .group: .group(origin: SimulatedOrigin.site, name: SimulatedOrigin.group)
    case .partition: .partition(mode: plan.mode, partition)
    case .all: .all
    }
  }
}
