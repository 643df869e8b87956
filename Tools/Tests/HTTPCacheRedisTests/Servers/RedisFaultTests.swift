import HTTPCacheLibC
import HTTPCacheStore
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheRedis

/// Servers that die, hang, forget and come back.
@Suite(
  .timeLimit(.minutes(10)), .serialized,
  .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisFaultTests {
  private let change = SharedChange(uid: "a", kind: .remove, selection: .all)

  private func finds(_ tier: RedisTier) async -> SharedTierError.Kind? {
    await tierError { _ = try await tier.find([Sample.key()]) }?.kind
  }

  @Test("kill -9: look-ups fail at once, and go on after a restart; the server is empty, and says so")
  func killed() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    let nonce = try await tier.state().nonce
    #expect(try await tier.publish(Sample.publication(Sample.variant())))
    async let waiting = tierError {
      _ = try await tier.changes(after: .start, waitingFor: .seconds(60), limit: 1)
    }
    await server.kill()
    #expect(await waiting?.kind == .unreachable)
    for _ in 0..<3 { #expect(await finds(tier) != nil) }
    #expect(await tierError { _ = try await tier.add(change, at: nil) }?.kind == .unreachable)
    #expect(await tierError { _ = try await tier.state() }?.kind == .unreachable)
    try await server.restart()
    try await eventually { await finds(tier) == nil }
    #expect(try await tier.find([Sample.key()]).variants[0].isEmpty)
    #expect(await tierError { _ = try await tier.changes(after: .start, waitingFor: .zero, limit: 1) } != nil)
    #expect(try await tier.state().nonce != nonce)
    #expect(try await tier.publish(Sample.publication(Sample.variant())))
  }

  @Test(
    "a server that hangs costs a look-up its deadline, and every function ends; after it goes on, they work again"
  )
  func stopped() async throws {
    let server = try await RedisServer.start()
    let patient = try server.tier()
    #expect(try await patient.publish(Sample.publication(Sample.variant())))
    await patient.close()
    let body = SharedBody(id: 1, length: 3)
    let tier = try server.tier(limits: RedisLimits())
    try await eventually { await finds(tier) == nil }
    server.signal(SIGSTOP)
    let clock = ContinuousClock()
    // Commands of others on the connection may be late first.
    let late: [SharedTierError.Kind?] = [.timeout, .unreachable, .unavailable]
    for _ in 0..<3 {
      var kind: SharedTierError.Kind?
      let time = await clock.measure { kind = await finds(tier) }
      #expect(late.contains(kind))
      // Far above 50 ms, because tests share processors.
      #expect(time < .seconds(60))
    }
    func fails(_ body: @escaping @Sendable () async throws -> Void) async -> Bool {
      late.contains(await tierError(body)?.kind)
    }
    #expect(await fails { _ = try await tier.add(change, at: nil) })
    #expect(await fails { _ = try await tier.parts(0..<1, of: body, for: Sample.key()) })
    #expect(await fails { try await tier.write([1, 2, 3], part: 0, of: body, for: Sample.key()) })
    #expect(await fails { _ = try await tier.state() })
    #expect(await fails { try await tier.wipe(mode: .shared, partition: "") })
    #expect(await fails { try await tier.unlock(Sample.key(), token: "a", refusingFor: nil) })
    #expect(await fails { _ = try await tier.nodes() })
    server.signal(SIGCONT)
    try await eventually { await finds(tier) == nil }
    try await eventually { (try? await tier.find([Sample.key()]).variants[0].count) == 1 }
    try await eventually { (try? await tier.state()) != nil }
  }

  @Test("a deadline that passes on one connection leaves the others open")
  func lanes() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    _ = try await tier.state()
    // The log's connection waits while the other one works.
    async let waiting = tier.changes(after: .start, waitingFor: .seconds(60), limit: 1)
    for _ in 0..<20 { #expect(await finds(tier) == nil) }
    let added = try await tier.add(change, at: nil)
    #expect(try await waiting.entries.map(\.position) == [added])
  }

  @Test("FLUSHALL: nothing is found, and what comes next is")
  func flushed() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    #expect(try await tier.publish(Sample.publication(Sample.variant())))
    try await server.send("FLUSHALL")
    #expect(try await tier.find([Sample.key()]).variants[0].isEmpty)
    #expect(try await tier.publish(Sample.publication(Sample.variant())))
    #expect(try await tier.find([Sample.key()]).variants[0].count == 1)
  }

  @Test("connections that the server cuts fail what waits, and are made again")
  func cut() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    for _ in 0..<5 {
      #expect(await finds(tier) == nil)
      try await server.send("CLIENT", "KILL", "TYPE", "normal")
      try await eventually { await finds(tier) == nil }
    }
  }

  @Test("a task that is cancelled stops waiting; the connection goes on")
  func cancelled() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    _ = try await tier.state()
    let task = Task { try await tier.changes(after: .start, waitingFor: .seconds(3_600), limit: 1) }
    try await eventually { try await server.send("CLIENT", "LIST").text?.contains("cmd=xread") == true }
    task.cancel()
    #expect(await tierError { _ = try await task.value }?.kind == .unreachable)
    #expect(await finds(tier) == nil)
  }

  @Test("after it is closed a tier answers nothing, and has no connection")
  func closed() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    _ = try await tier.state()
    async let waiting = tierError {
      _ = try await tier.changes(after: .start, waitingFor: .seconds(60), limit: 1)
    }
    try await eventually { try await server.send("CLIENT", "LIST").text?.contains("cmd=xread") == true }
    await tier.close()
    #expect(await waiting?.kind == .unreachable)
    #expect(await finds(tier) == .unreachable)
    try await eventually {
      // This question's own connection is there.
      try await server.send("CLIENT", "LIST").text?.split(separator: "\n").count == 1
    }
  }

  @Test("a tier that is not used any more closes its connections")
  func released() async throws {
    let server = try await RedisServer.start()
    var tier: RedisTier? = try server.tier()
    _ = try await tier?.state()
    _ = try await tier?.find([Sample.key()])
    tier = nil
    try await eventually { try await server.send("CLIENT", "LIST").text?.split(separator: "\n").count == 1 }
  }

  @Test("a refused connection, and a host that does not exist, are unreachable within the deadline")
  func unreachable() async throws {
    let ports = [try UnusedPort(), try UnusedPort()]
    let refusing = ports.map { "127.0.0.1:\($0.number)" }
    // No name server is asked for a label of more than 63 octets (RFC 1035 §2.3.4).
    let nowhere = String(repeating: "a", count: 64)
    for hosts in [refusing[0], nowhere, refusing.joined(separator: ",")] {
      let tier = try RedisTier(.init(address: try RedisAddress("redis://\(hosts)"), name: "test"))
      for _ in 0..<3 {
        let kind = await finds(tier)
        #expect(kind == .unreachable || kind == .timeout, "\(hosts)")
      }
    }
    withExtendedLifetime(ports) {}
  }
}
