import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheCommand

/// An origin that counts the requests for each path, and answers each with its number.
final class CountingOrigin: Sendable {
  private let counts = Mutex<[String: Int]>([:])
  private let gates = Mutex<[String: AsyncStream<Void>]>([:])

  /// The number of requests for a path.
  func count(of path: String) -> Int { counts.withLock { $0[path] ?? 0 } }

  /// Lets requests for a path wait until the function is called that is returned.
  func close(_ path: String) -> @Sendable () -> Void {
    let (gate, continuation) = AsyncStream.makeStream(of: Void.self)
    gates.withLock { $0[path] = gate }
    return { continuation.finish() }
  }

  /// Runs `body` with an origin.
  static func run(_ body: @escaping @Sendable (CountingOrigin, TestServer) async throws -> Void) async throws
  {
    let origin = CountingOrigin()
    let responder = CallbackResponder { (request: Request, _: BasicRequestContext) in
      let path = request.uri.path
      let number = origin.counts.withLock { counts in
        counts[path, default: 0] += 1
        return counts[path] ?? 0
      }
      if let gate = origin.gates.withLock({ $0[path] }) { for await _ in gate {} }
      return Response(
        status: .ok, headers: [.cacheControl: "max-age=3600", .contentType: "text/plain"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: "version \(number)")))
    }
    try await TestServer.run(responder) { try await body(origin, $0) }
  }
}

/// Three servers of a fleet in front of one origin, as processes.
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
  private let directory: TemporaryDirectory
  private let client: HTTPClient

  /// Runs `body` with a fleet.
  ///
  /// - Parameter options: further options of each server.
  static func run(
    _ options: [String] = [],
    _ body: @escaping @Sendable (FleetNodes, CountingOrigin, String) async throws -> Void
  ) async throws {
    try await CountingOrigin.run { origin, server in
      let fleet = try await FleetNodes(upstream: server.base, options)
      let result: Result<Void, any Error>
      do { result = .success(try await body(fleet, origin, server.base)) } catch { result = .failure(error) }
      try await fleet.client.shutdown()
      try result.get()
    }
  }

  private init(upstream: String, _ options: [String]) async throws {
    redis = try await RedisServer.start()
    directory = try TemporaryDirectory()
    token = directory.file("token")
    try Data(Self.secret.utf8).write(to: URL(fileURLWithPath: token))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: token)
    let arguments =
      [
        "--upstream", upstream, "--fleet", "redis://127.0.0.1:\(redis.port)", "--admin", "127.0.0.1:0",
        "--admin-token-file", token,
      ] + options
    var nodes: [Node] = []
    for _ in 0..<3 {
      let process = try await ServeProcess(arguments)
      nodes.append(
        Node(process: process, port: try await process.port(), admin: try await process.adminPort()))
    }
    self.nodes = nodes
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 200
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// The address of the fleet.
  var address: String { "redis://127.0.0.1:\(redis.port)" }

  /// Asks a node for a path.
  func get(_ path: String, from node: Int) async throws -> TestAnswer {
    try await send(.GET, nodes[node].port, path, ["Host": Self.host])
  }

  /// Asks the admin listener of a node.
  func admin(_ path: String, _ method: HTTPMethod = .GET, of node: Int) async throws -> TestAnswer {
    try await send(method, nodes[node].admin, path, ["Authorization": "Bearer \(Self.secret)"])
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

  private func send(
    _ method: HTTPMethod, _ port: Int, _ path: String, _ headers: [String: String]
  ) async throws -> TestAnswer {
    var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
    request.method = method
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    let response = try await client.execute(request, timeout: .seconds(120))
    let body = String(buffer: try await response.body.collect(upTo: 1 << 20))
    return TestAnswer(status: Int(response.status.code), headers: response.headers, body: body)
  }
}
