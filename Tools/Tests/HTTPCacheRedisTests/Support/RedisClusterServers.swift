import HTTPCaching
import ServerTesting

@testable import HTTPCacheRedis

/// Three primaries with a replica each, on this machine.
final class RedisClusterServers: Sendable {
  let servers: [RedisServer]

  /// Starts a cluster. Its node timeout is long: a busy machine may stop a server for seconds.
  init() async throws {
    servers = try await withThrowingTaskGroup(of: RedisServer.self) { tasks in
      for _ in 0..<6 {
        tasks.addTask {
          try await RedisServer.start([
            "--cluster-enabled", "yes", "--cluster-port", "\(try UnusedPort().number)",
            "--cluster-node-timeout", "60000", "--cluster-require-full-coverage", "no",
            // A replica takes over however long its primary was silent.
            "--cluster-replica-validity-factor", "0",
            // A replica is listed once its primary has sent it something.
            "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", "--maxmemory", "16mb",
          ])
        }
      }
      return try await tasks.reduce(into: []) { $0.append($1) }
    }
    try await join()
  }

  private func join() async throws {
    let primaries = servers.prefix(3)
    let ranges = [(0, 5_460), (5_461, 10_922), (10_923, 16_383)]
    for (server, range) in zip(primaries, ranges) {
      try await server.send("CLUSTER", "ADDSLOTSRANGE", "\(range.0)", "\(range.1)")
    }
    for (number, server) in servers.enumerated() {
      try await server.send("CLUSTER", "SET-CONFIG-EPOCH", "\(number + 1)")
    }
    let bus = try await servers[0].busPort
    try await eventually {
      var isWhole = true
      for server in servers {
        let count = try await knownNodes(server)
        // A server drops a handshake that takes too long.
        if count == 1, server !== servers[0] {
          try await server.send("CLUSTER", "MEET", "127.0.0.1", "\(servers[0].port)", "\(bus)")
        }
        isWhole = isWhole && count == 6
      }
      return isWhole
    }
    for (replica, primary) in zip(servers.dropFirst(3), primaries) {
      let id = try await primary.send("CLUSTER", "MYID").text ?? ""
      try await eventually { (try? await replica.send("CLUSTER", "REPLICATE", id)) != nil }
    }
    try await eventually {
      for server in servers {
        guard try await server.send("CLUSTER", "INFO").text?.contains("cluster_state:ok") == true else {
          return false
        }
        let slots = try await server.send("CLUSTER", "SLOTS").elements ?? []
        guard slots.count == 3, slots.allSatisfy({ $0.elements?.count == 4 }) else { return false }
      }
      for replica in servers.dropFirst(3) {
        guard try await replica.send("INFO", "replication").text?.contains("master_link_status:up") == true
        else {
          return false
        }
      }
      return true
    }
  }

  /// The number of servers that a server knows, itself included.
  private func knownNodes(_ server: RedisServer) async throws -> Int {
    let lines = try await server.send("CLUSTER", "NODES").text?.split(separator: "\n")
    return lines?.filter { !$0.contains("handshake") }.count ?? 0
  }

  /// The servers that have a key, by those that answer: its primary, and its replica.
  func owner(of key: [UInt8]) async throws -> (primary: RedisServer, replica: RedisServer?)? {
    let slot = Int64(RedisSlot.of(key))
    for server in servers {
      // A server that is stopped does not answer.
      guard let ranges = try? await server.send("CLUSTER", "SLOTS", by: .seconds(5)).elements else {
        continue
      }
      for range in ranges.compactMap(\.elements) where range.count >= 3 {
        guard let first = range[0].number, let last = range[1].number, (first...last).contains(slot) else {
          continue
        }
        let ports = range.dropFirst(2).compactMap { $0.elements?[1].number }
        let found = ports.compactMap { port in servers.first { $0.port == Int(port) } }
        if let primary = found.first { return (primary, found.dropFirst().first) }
      }
    }
    return nil
  }

  /// A tier that knows some of the servers.
  func tier(seeds: ArraySlice<RedisServer>? = nil, limits: RedisLimits = .long) throws -> RedisTier {
    let hosts = (seeds ?? servers.prefix(2)).map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
    return try RedisTier(.init(address: try RedisAddress("redis://\(hosts)"), name: "test"), limits: limits)
  }

  func stop() async { for server in servers { await server.kill() } }
}

extension RedisServer {
  /// The port of the cluster's bus.
  var busPort: Int {
    get async throws {
      // `host:port@bus,name` of the server itself.
      let nodes = try await send("CLUSTER", "NODES").text ?? ""
      let own = nodes.split(separator: "\n").first { $0.contains("myself") } ?? ""
      let address = own.split(separator: " ").dropFirst().first ?? ""
      return Int(address.split(separator: "@").last?.prefix { $0.isNumber } ?? "") ?? 0
    }
  }
}
