import AsyncHTTPClient
import Foundation
import NIOHTTP1
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Three servers of a fleet in front of one origin, as processes. Each response has the number of its request.
final class FleetNodes: Sendable {
  /// A server with its ports.
  struct Node: Sendable {
    let process: ServeProcess
    let port: Int
    let admin: Int
  }

  /// One host for all nodes, as behind a load balancer: responses for different hosts are kept apart.
  static let host = "site.example"
  private static let secret = "a-token-of-the-fleet-tests"

  let nodes: [Node]
  let redis: RedisServer
  /// The file of the token of the admin listeners.
  let token: String
  private let directory: ScratchFolder
  private let client: HTTPClient

  /// Runs `body` with a fleet.
  ///
  /// - Parameter gate: awaited before each response of the origin.
  static func run(
    gate: @escaping @Sendable () async -> Void = {},
    _ body: (FleetNodes, ScriptedOrigin) async throws -> Void
  ) async throws {
    let origin = try await ScriptedOrigin { request in
      await gate()
      let text = "version \(request.number + 1)"
      return ScriptedOrigin.Answer(
        head: "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: \(text.utf8.count)",
        body: Array(text.utf8), isHeld: true)
    }
    let fleet = try await FleetNodes(upstream: origin.base)
    let result: Result<Void, any Error>
    do { result = .success(try await body(fleet, origin)) } catch { result = .failure(error) }
    try await fleet.client.shutdown()
    try result.get()
  }

  private init(upstream: String) async throws {
    redis = try await RedisServer.start()
    directory = try ScratchFolder()
    token = try directory.write(Self.secret.utf8, to: "token", mode: 0o600)
    let arguments = [
      "--upstream", upstream, "--fleet", "redis://127.0.0.1:\(redis.port)", "--admin", "127.0.0.1:0",
      "--admin-token-file", token,
    ]
    var nodes: [Node] = []
    for _ in 0..<3 {
      let process = try await ServeProcess(arguments)
      nodes.append(
        Node(process: process, port: try await process.port(), admin: try await process.adminPort()))
    }
    self.nodes = nodes
    client = TestServer.makeClient()
  }

  /// The address of the fleet.
  var address: String { "redis://127.0.0.1:\(redis.port)" }

  /// Asks a node for a path.
  func get(_ path: String, from node: Int) async throws -> TestAnswer {
    try await TestServer(port: nodes[node].port, client: client).send(.GET, path, ["Host": Self.host])
  }

  /// Asks the admin listener of a node.
  func admin(_ path: String, _ method: HTTPMethod = .GET, of node: Int) async throws -> TestAnswer {
    let server = TestServer(port: nodes[node].admin, client: client)
    return try await server.send(method, path, ["Authorization": "Bearer \(Self.secret)"])
  }

  /// Waits until all nodes know of each other: a purge then waits for all of them.
  func settle() async throws {
    while true {
      let run = await CommandRun("fleet", "--fleet", address, "--json")
      if run.output.ranges(of: "\"position\"").count == nodes.count { return }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The figures of the fleet that a node tells.
  func figures(of node: Int) async throws -> AdminFleet {
    struct Stats: Decodable { let fleet: AdminFleet }
    let text = try await admin("/stats", of: node).body
    return try JSONDecoder().decode(Stats.self, from: Data(text.utf8)).fleet
  }

  /// How often the tier has failed to answer a node, of all nodes.
  func failures() async throws -> Int {
    var all = 0
    for node in nodes.indices {
      let text = try await admin("/metrics", of: node).body
      for line in text.split(separator: "\n") where line.hasPrefix("httpcache_fleet_failures_total{") {
        all += try #require(line.split(separator: " ").last.flatMap { Int($0) })
      }
    }
    return all
  }

  /// The number of connections of the clients of all nodes.
  func connections() async throws -> Int {
    struct Stats: Decodable { let connections: Int }
    var all = 0
    for node in nodes.indices {
      let text = try await admin("/stats", of: node).body
      all += try JSONDecoder().decode(Stats.self, from: Data(text.utf8)).connections
    }
    return all
  }
}
