import HTTPCacheStore
import HTTPCaching
import NIOPosix
import ServerTesting
import Testing

@testable import HTTPCacheRedis

/// Refusals of servers, and their kinds.
@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisRefusalTests {
  private let change = SharedChange(uid: "a", kind: .remove, selection: .all)

  /// The commands of the ACL in docs/fleet-redis.md.
  static let commands =
    "+time +hgetall +hget +hset +hsetnx +hlen +hdel +set +get +del +unlink +pexpire +pttl +eval +evalsha +xadd +xread +xrange +xinfo|stream +scan +cluster|slots +asking +select +ping"

  @Test(
    "out of memory: nothing is published and no lock taken, but a change is added and responses are found")
  func outOfMemory() async throws {
    let server = try await RedisServer.start(["--maxmemory-policy", "noeviction"])
    let tier = try server.tier()
    #expect(try await tier.publish(Sample.publication(Sample.variant())))
    _ = try await tier.state()
    try await server.send("CONFIG", "SET", "maxmemory", "1")
    let publication = await tierError {
      _ = try await tier.publish(Sample.publication(Sample.variant(), token: "a"))
    }
    #expect(publication?.kind == .unavailable && publication?.message.contains("OOM") == true)
    let body = SharedBody(id: 1, length: 3)
    #expect(
      await tierError { try await tier.write([1, 2, 3], part: 0, of: body, for: Sample.key()) }?.kind
        == .unavailable)
    let lock = await tierError {
      _ = try await tier.lock(
        Sample.key(), token: "a", ticket: .start, duration: .seconds(1), overtaking: nil)
    }
    #expect(lock?.kind == .unavailable)
    #expect(try await tier.find([Sample.key()]).variants[0].count == 1)
    let position = try await tier.add(change, at: nil)
    #expect(try await tier.state().log == [SharedLogEntry(position: position, change: change)])
    // Purges wait for nodes that are known, so a node must be known.
    try await tier.report(SharedNode(name: "n", applied: position, seen: 0))
    #expect(try await tier.nodes().map(\.name) == ["n"])
    let full = try await RedisServer.start(["--maxmemory-policy", "noeviction", "--maxmemory", "1"])
    let first = try full.tier()
    #expect(try await first.state().nonce.isEmpty == false)
  }

  @Test("a replica is unavailable for changes, and its connection is made again")
  func readOnly() async throws {
    let primary = try await RedisServer.start(["--repl-diskless-sync-delay", "0"])
    let replica = try await RedisServer.start(["--replicaof", "127.0.0.1 \(primary.port)"])
    let tier = try replica.tier()
    try await eventually { replica.log.contains("MASTER <-> REPLICA sync: Finished with success") }
    for _ in 0..<2 {
      let error = await tierError { _ = try await tier.add(change, at: nil) }
      #expect(error?.kind == .unavailable && error?.message.contains("READONLY") == true)
    }
    #expect(
      await tierError { _ = try await tier.publish(Sample.publication(Sample.variant())) }?.kind
        == .unavailable)
    let before = try await replica.send("INFO", "stats").text
    _ = await tierError { _ = try await tier.add(change, at: nil) }
    _ = try await tier.find([Sample.key()])
    let after = try await replica.send("INFO", "stats").text
    func connections(_ text: String?) -> Substring? {
      text?.split(separator: "\r\n").first { $0.hasPrefix("total_connections_received:") }
    }
    #expect(connections(before) != connections(after))
    // Promoted, it takes changes.
    try await replica.send("REPLICAOF", "NO", "ONE")
    _ = try await tier.add(change, at: nil)
  }

  @Test("a script that the server has forgotten is sent again")
  func noScript() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    for _ in 0..<2 {
      try await server.send("SCRIPT", "FLUSH")
      #expect(try await tier.publish(Sample.publication(Sample.variant())))
      try await server.send("SCRIPT", "FLUSH")
      _ = try await tier.add(change, at: nil)
      try await server.send("SCRIPT", "FLUSH")
      #expect(try await tier.renew(Sample.key(), token: "a", duration: .seconds(1)) == false)
    }
  }

  @Test("a server that runs somebody's script too long is unavailable")
  func busy() async throws {
    let server = try await RedisServer.start(["--busy-reply-threshold", "1"])
    let tier = try server.tier()
    _ = try await tier.find([Sample.key()])
    let script = Task { try? await server.send("EVAL", "while true do end", "0") }
    try await eventually {
      let error = await tierError { _ = try await tier.find([Sample.key()]) }
      #expect(
        error == nil || error?.kind == .unavailable || error?.kind == .timeout || error?.kind == .unreachable)
      return error?.message.contains("BUSY") == true && error?.kind == .unavailable
    }
    try await server.send("SCRIPT", "KILL")
    _ = await script.value
    try await eventually { await tierError { _ = try await tier.find([Sample.key()]) } == nil }
  }

  @Test("a key of another type is an error of the protocol, and nothing else is broken")
  func wrongType() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    try await server.send(
      "SET", String(decoding: tier.keys.names(of: Sample.key()).variants, as: UTF8.self), "x")
    #expect(await tierError { _ = try await tier.find([Sample.key()]) }?.kind == .protocol)
    #expect(
      await tierError { _ = try await tier.publish(Sample.publication(Sample.variant())) }?.kind == .protocol)
    _ = try await tier.find([Sample.key("/other")])
  }

  @Test("wrong credentials, and missing ones, are refused; the message has no password")
  func credentials() async throws {
    let server = try await RedisServer.start(["--requirepass", "s3cret"])
    for user in ["default:wrong-one", ":wrong-one", "nobody:wrong-one", nil] {
      let tier = try server.tier(user: user)
      let error = await tierError { _ = try await tier.state() }
      #expect(error?.kind == .refused, "\(user ?? "none")")
      #expect(error?.message.contains("wrong-one") == false)
    }
    for user in ["default:s3cret", ":s3cret"] {
      let tier = try server.tier(user: user)
      _ = try await tier.state()
    }
    let open = try await RedisServer.start()
    let tier = try open.tier(user: ":unwanted")
    #expect(await tierError { _ = try await tier.state() }?.kind == .refused)
  }

  @Test("a caller that comes after the server refused the connection is told that it was refused")
  func refusedBefore() async throws {
    let server = try await RedisServer.start(["--requirepass", "s3cret"])
    let settings = RedisSettings(
      username: nil, password: "wrong-one", database: 0, tls: nil,
      group: MultiThreadedEventLoopGroup.singleton, limits: .long)
    let connection = RedisConnection(to: RedisEndpoint(host: "127.0.0.1", port: server.port), settings)
    try await eventually { connection.isClosed }
    let error = await tierError {
      _ = try await connection.send([["PING"]], by: RedisDeadline(.seconds(60)))
    }
    #expect(error?.kind == .refused && error?.message.contains("wrong-one") == false)
  }

  @Test("a user with the documented permissions does everything, and is refused beyond its keys")
  func permissions() async throws {
    let words = Self.commands.split(separator: " ").map(String.init)
    let server = try await RedisServer.start(
      ["--user", "default", "off", "--user", "cache", "on", ">pass", "~hc1:test:*", "resetchannels", "-@all"]
        + words)
    let tier = try server.tier(user: "cache:pass")
    let body = SharedBody(id: 1, length: 3)
    try await tier.write([1, 2, 3], part: 0, of: body, for: Sample.key())
    #expect(try await tier.publish(Sample.publication(Sample.variant(body: body), token: "a")))
    #expect(
      try await tier.publish(Sample.publication(Sample.variant(), token: "a", lockedKey: Sample.key("/b"))))
    #expect(try await tier.find([Sample.key()]).variants[0].count == 1)
    #expect(try await tier.parts(0..<1, of: body, for: Sample.key()) == [[1, 2, 3]])
    let lock = try await tier.lock(
      Sample.key(), token: "a", ticket: .start, duration: .seconds(60), overtaking: nil)
    #expect(lock == .acquired)
    _ = try await tier.lock(
      Sample.key(), token: "b", ticket: .start, duration: .seconds(60), overtaking: .start)
    #expect(try await tier.renew(Sample.key(), token: "b", duration: .seconds(60)))
    try await tier.unlock(Sample.key(), token: "b", refusingFor: .seconds(1))
    let position = try await tier.add(change, at: nil)
    #expect(try await tier.state().log.map(\.position) == [position])
    _ = try await tier.changes(after: position, waitingFor: .milliseconds(10), limit: 1)
    for number in 0...64 { try await tier.report(SharedNode(name: "n\(number)", applied: position, seen: 0)) }
    #expect(try await tier.nodes().count == 65)
    try await tier.wipe(mode: .shared, partition: "")
    #expect(try await tier.find([Sample.key()]).variants[0].isEmpty)
    let other = try server.tier(user: "cache:pass") { $0.name = "other" }
    let error = await tierError { _ = try await other.find([Sample.key()]) }
    #expect(error?.kind == .refused && error?.message.contains("NOPERM") == true)
    #expect(
      await tierError { _ = try await other.publish(Sample.publication(Sample.variant())) }?.kind == .refused)
    #expect(await tierError { _ = try await other.add(change, at: nil) }?.kind == .refused)
  }

  @Test("a database is used by its number, and one that is not there is refused")
  func databases() async throws {
    let server = try await RedisServer.start()
    let tier = try RedisTier(.init(address: try server.address(database: 3), name: "test"), limits: .long)
    #expect(try await tier.publish(Sample.publication(Sample.variant())))
    #expect(try await server.send("DBSIZE") == .integer(0))
    #expect(try await tier.find([Sample.key()]).variants[0].count == 1)
    let other = try RedisTier(.init(address: try server.address(database: 99), name: "test"), limits: .long)
    #expect(await tierError { _ = try await other.find([Sample.key()]) }?.kind == .refused)
  }

  @Test("several hosts that are no cluster are refused")
  func severalHosts() async throws {
    let servers = [try await RedisServer.start(), try await RedisServer.start()]
    let address = try RedisAddress("redis://127.0.0.1:\(servers[0].port),127.0.0.1:\(servers[1].port)")
    let tier = try RedisTier(.init(address: address, name: "test"), limits: .long)
    try await eventually { await tierError { _ = try await tier.find([Sample.key()]) }?.kind == .refused }
  }

  @Test(
    "each code of an error reply has its kind",
    arguments: [
      ("LOADING Redis is loading the dataset in memory", .unavailable),
      ("READONLY You can't write against a read only replica.", .unavailable),
      ("OOM command not allowed when used memory > 'maxmemory'. script: 1, on @user_script:1.", .unavailable),
      ("BUSY Redis is busy running a script.", .unavailable),
      ("MASTERDOWN Link with MASTER is down", .unavailable),
      ("CLUSTERDOWN Hash slot not served", .unavailable), ("TRYAGAIN Multiple keys request", .unavailable),
      ("MISCONF Redis is configured to save RDB snapshots", .unavailable),
      ("NOREPLICAS Not enough good replicas to write.", .unavailable),
      ("UNBLOCKED force unblock from blocking operation", .unavailable),
      ("ERR max number of clients reached", .unavailable),
      ("WRONGPASS invalid username-password pair", .refused),
      ("NOAUTH Authentication required.", .refused), ("NOPERM this user has no permissions", .refused),
      ("ERR unknown command 'XREAD'", .refused), ("DENIED Redis is running in protected mode", .refused),
      ("WRONGTYPE Operation against a key", .protocol), ("CROSSSLOT Keys in request", .protocol),
    ] as [(String, SharedTierError.Kind)])
  func kinds(text: String, kind: SharedTierError.Kind) { #expect(SharedTierError(reply: text)?.kind == kind) }

  @Test("a message from outside is short, and has no control characters")
  func messages() {
    let error = SharedTierError(reply: "ERR \u{1b}[31m\r\n" + String(repeating: "ä", count: 5_000))
    #expect(
      error?.message.utf8.count == 200 && error?.message.utf8.allSatisfy { (32...126).contains($0) } == true)
    #expect(SharedTierError(reply: "NOSCRIPT No matching script.") == nil)
    #expect(SharedTierError(reply: "ERR no such key") == nil)
  }
}
