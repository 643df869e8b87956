import HTTPCacheLibC
import HTTPCacheStore
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheRedis

@Suite(
  .timeLimit(.minutes(10)), .serialized,
  .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisClusterTests {
  private let keys = (0..<40).map { Sample.key("/\($0)") }

  private func withCluster(_ body: (RedisClusterServers) async throws -> Void) async throws {
    let cluster = try await RedisClusterServers()
    try await body(cluster)
    await cluster.stop()
  }

  /// Adds a change as soon as the cluster takes one.
  private func addEventually(_ tier: RedisTier, _ uid: String) async throws {
    try await eventually {
      await tierError {
        _ = try await tier.add(SharedChange(uid: uid, kind: .remove, selection: .all), at: nil)
      } == nil
    }
  }

  /// The log, as soon as the cluster tells it.
  private func logEventually(_ tier: RedisTier) async throws -> [SharedLogEntry] {
    var log: [SharedLogEntry]?
    try await eventually {
      log = try? await tier.state().log
      return log != nil
    }
    return log ?? []
  }

  private func publishAll(_ tier: RedisTier) async throws {
    for key in keys {
      try await eventually {
        (try? await tier.publish(Sample.publication(Sample.variant(key)))) == true
      }
    }
  }

  @Test(
    "keys are spread over the servers; one question finds those of several, each with its own server's times")
  func spread() async throws {
    try await withCluster { cluster in
      // One host leads to all others.
      let tier = try cluster.tier(seeds: cluster.servers[4...4])
      try await publishAll(tier)
      let finding = try await tier.find(keys)
      #expect(finding.variants.map(\.count) == keys.map { _ in 1 })
      for variant in finding.variants.joined() {
        #expect((0...3_600_000).contains(finding.now - variant.published))
      }
      #expect(finding.variants.map { $0[0].record.key } == keys)
      for server in cluster.servers.prefix(3) {
        let size = try #require(try await server.send("DBSIZE").number)
        #expect(size > 0 && size < 40)
      }
      try await bodies(tier)
      try await tier.wipe(mode: .shared, partition: "")
      for server in cluster.servers.prefix(3) { #expect(try await server.send("DBSIZE") == .integer(0)) }
      await tier.close()
      try await moving(cluster)
    }
  }

  private func bodies(_ tier: RedisTier) async throws {
    for (number, key) in keys.prefix(8).enumerated() {
      let body = SharedBody(id: UInt64(number + 1), length: 3)
      try await tier.write([1, 2, 3], part: 0, of: body, for: key)
      // The lock of another key is in another slot.
      let lockedKey = keys[number + 8]
      let lock = try await tier.lock(
        lockedKey, token: "a", ticket: .start, duration: .seconds(60), overtaking: nil)
      #expect(lock == .acquired)
      let publication = Sample.publication(Sample.variant(key, body: body), token: "a", lockedKey: lockedKey)
      #expect(try await tier.publish(publication))
      #expect(try await tier.parts(0..<1, of: body, for: key) == [[1, 2, 3]])
      #expect(try await tier.renew(lockedKey, token: "a", duration: .seconds(1)) == false)
    }
  }

  /// A slot moves to another server while it is used (MOVED, ASK, TRYAGAIN).
  private func moving(_ cluster: RedisClusterServers) async throws {
    let tier = try cluster.tier()
    try await publishAll(tier)
    let names = tier.keys.names(of: keys[0])
    let slot = "\(RedisSlot.of(names.variants))"
    let source = try #require(try await cluster.owner(of: names.variants)).primary
    let target = try #require(cluster.servers.prefix(3).first { $0.port != source.port })
    let (from, to) = (
      try await source.send("CLUSTER", "MYID").text ?? "", try await target.send("CLUSTER", "MYID").text ?? ""
    )
    try await target.send("CLUSTER", "SETSLOT", slot, "IMPORTING", from)
    try await source.send("CLUSTER", "SETSLOT", slot, "MIGRATING", to)
    #expect(try await tier.find([keys[0]]).variants[0].count == 1)
    let name = String(decoding: names.variants, as: UTF8.self)
    try await source.send("MIGRATE", "127.0.0.1", "\(target.port)", name, "0", "50000")
    // The source asks to ask the target for this key.
    #expect(try await tier.find([keys[0]]).variants[0].count == 1)
    let lock = try await tier.lock(
      keys[0], token: "a", ticket: .start, duration: .seconds(60), overtaking: nil)
    #expect(lock == .acquired)
    for server in cluster.servers.prefix(3) { try await server.send("CLUSTER", "SETSLOT", slot, "NODE", to) }
    #expect(try await tier.find([keys[0]]).variants[0].count == 1)
    #expect(try await tier.publish(Sample.publication(Sample.variant(keys[0]), token: "a")))
  }

  @Test(
    "kill -9 of the log's primary: its replica takes over, and no change that it has is lost",
    arguments: [true, false])
  func failover(isKilled: Bool) async throws {
    try await withCluster { cluster in
      // A server that hangs is left by a deadline alone.
      let limits = RedisLimits(
        question: .seconds(2), change: .seconds(2), state: .seconds(2), part: .seconds(2),
        progress: .seconds(2),
        publication: .seconds(2))
      let tier = try cluster.tier(limits: limits)
      try await addEventually(tier, "before")
      let position = try #require(try await logEventually(tier).last?.position)
      let owner = try #require(try await cluster.owner(of: tier.keys.log))
      let replica = try #require(owner.replica)
      try await eventually {
        try await replica.send("INFO", "replication").text?.contains("master_link_status:up") == true
      }
      let acknowledged = try await owner.primary.send("WAIT", "1", "50000").number
      #expect(acknowledged == 1)
      async let waiting = tierError {
        _ = try await tier.changes(after: position, waitingFor: .seconds(3), limit: 1)
      }
      if isKilled { await owner.primary.kill() } else { owner.primary.signal(SIGSTOP) }
      #expect(await waiting != nil)
      let failed = await tierError {
        _ = try await tier.add(SharedChange(uid: "x", kind: .remove, selection: .all), at: nil)
      }
      #expect(failed != nil)
      // Not before: the replica must not take over until both have failed.
      for server in cluster.servers where server !== owner.primary {
        try await server.send("CONFIG", "SET", "cluster-node-timeout", "1000")
      }
      try await addEventually(tier, "after")
      let log = try await logEventually(tier).compactMap { $0.change?.uid }
      #expect(log.first == "before" && log.last == "after")
      try await publishAll(tier)
      if !isKilled { owner.primary.signal(SIGCONT) }
    }
  }

  @Test("a planned failover: what waits on the log ends, and the next state is that of the new primary")
  func planned() async throws {
    try await withCluster { cluster in
      let tier = try cluster.tier()
      try await addEventually(tier, "before")
      let position = try #require(try await tier.state().log.last?.position)
      let replica = try #require(try await cluster.owner(of: tier.keys.log)?.replica)
      async let waiting = tierError {
        _ = try await tier.changes(after: position, waitingFor: .seconds(300), limit: 1)
      }
      var attempts = 0
      try await eventually {
        // Servers give up a failover that takes longer than 5 s.
        if replica.log.ranges(of: "Manual failover timed out").count >= attempts {
          attempts += 1
          _ = try? await replica.send("CLUSTER", "FAILOVER")
        }
        return try await replica.send("INFO", "replication").text?.contains("role:master") == true
      }
      #expect(await waiting != nil)
      try await eventually { await tierError { _ = try await tier.state() } == nil }
      try await addEventually(tier, "after")
      try await eventually {
        (try? await tier.changes(after: position, waitingFor: .zero, limit: 9).entries.last?.change?.uid)
          == "after"
      }
      try await eventually { try await cluster.owner(of: tier.keys.log)?.primary.port == replica.port }
    }
  }
}
