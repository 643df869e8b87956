import Foundation
import HTTPCaching
import NIOPosix
import NIOSSL
import ServerTesting
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@testable import HTTPCacheRedis

/// A server on a port of its own, with little memory, and without files unless a test asks for them. It is killed when
/// this object is no longer used, and with the process of the tests.
final class RedisServer: Sendable {
  struct NotStarted: Error {}

  let port: Int
  let folder: URL
  private let options: [String]
  private let isEncrypted: Bool
  private let process: Mutex<TestProcess>

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - options: further options.
  ///   - isEncrypted: whether the port is for TLS; the options name the certificate.
  static func start(_ options: [String] = [], isEncrypted: Bool = false) async throws -> RedisServer {
    for _ in 0..<5 {
      // Another process may take the port before the server does.
      let port = try UnusedPort().number
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "redis-test-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let process = try await launch(port, folder, options, isEncrypted)
      let server = RedisServer(port, folder, options, isEncrypted, process)
      if await server.answers() { return server }
    }
    throw NotStarted()
  }

  private init(
    _ port: Int, _ folder: URL, _ options: [String], _ isEncrypted: Bool, _ process: TestProcess
  ) {
    self.port = port
    self.folder = folder
    self.options = options
    self.isEncrypted = isEncrypted
    self.process = Mutex(process)
  }

  deinit {
    process.withLock { $0.send(SIGKILL) }
    try? FileManager.default.removeItem(at: folder)
  }

  private static func launch(
    _ port: Int, _ folder: URL, _ options: [String], _ isEncrypted: Bool
  ) async throws -> TestProcess {
    guard let program = RedisProgram.server else { throw NotStarted() }
    let ports = isEncrypted ? ["--port", "0", "--tls-port", "\(port)"] : ["--port", "\(port)"]
    return try await TestProcess(
      [program] + ports + [
        "--bind", "127.0.0.1", "--dir", folder.path, "--save", "", "--appendonly", "no", "--maxmemory",
        "64mb",
        "--daemonize", "no", "--logfile", "\(folder.path)/log",
      ] + options)
  }

  /// Waits until it answers; false if it ended.
  private func answers() async -> Bool {
    while !process.withLock({ $0.isEnded }) {
      if (try? await send("PING")) != nil { return true }
      if log.contains("Ready to accept connections") { return true }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return false
  }

  /// The log of the server.
  var log: String { (try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)) ?? "" }

  /// The number of the process.
  var pid: Int32 { process.withLock { $0.pid } }

  /// Sends it a signal.
  func signal(_ signal: Int32) { process.withLock { $0.send(signal) } }

  /// Kills it, and waits for its end.
  func kill() async {
    let process = process.withLock { $0 }
    process.send(SIGKILL)
    _ = await process.end()
  }

  /// Starts it again after it ended, on the same port.
  func restart() async throws {
    for _ in 0..<20 {
      let new = try await Self.launch(port, folder, options, isEncrypted)
      process.withLock { $0 = new }
      if await answers() { return }
    }
    throw NotStarted()
  }

  /// The address as a tier reads it.
  func address(user: String? = nil, database: Int = 0) throws -> RedisAddress {
    let scheme = isEncrypted ? "rediss" : "redis"
    return try RedisAddress("\(scheme)://\(user.map { "\($0)@" } ?? "")127.0.0.1:\(port)/\(database)")
  }

  /// A tier on it.
  ///
  /// - Parameter limits: those of a test that checks no deadline are long, because tests share processors.
  func tier(
    user: String? = nil, limits: RedisLimits = .long,
    _ change: (inout RedisTier.Configuration) -> Void = { _ in }
  ) throws -> RedisTier {
    var configuration = RedisTier.Configuration(address: try address(user: user), name: "test")
    change(&configuration)
    return try RedisTier(configuration, limits: limits)
  }

  /// Sends a command of a test over a connection of its own.
  ///
  /// - Returns: the reply; errors are thrown.
  @discardableResult
  func send(_ words: String..., by limit: Duration = .seconds(10)) async throws -> RESPValue {
    try await Self.send(words, port: port, by: limit)
  }

  /// Sends a command to a port of this machine.
  @discardableResult
  static func send(_ words: [String], port: Int, by limit: Duration = .seconds(10)) async throws -> RESPValue
  {
    let settings = RedisSettings(
      username: nil, password: nil, database: 0, tls: nil, group: MultiThreadedEventLoopGroup.singleton)
    let connection = RedisConnection(to: RedisEndpoint(host: "127.0.0.1", port: port), settings)
    defer { connection.close(.unreachable, "done") }
    let command = RedisCommand(words.map { .text($0) })
    let reply = try await connection.send([command], by: RedisDeadline(limit))[0]
    if case .error(let text) = reply { throw SharedTierError(.refused, text) }
    return reply
  }
}

extension RedisLimits {
  /// A minute for everything.
  static let long = RedisLimits(
    question: .seconds(60), change: .seconds(60), state: .seconds(60), part: .seconds(60),
    progress: .seconds(60),
    publication: .seconds(60))
}

/// Waits until a condition holds. The suite's time limit ends a test whose condition never holds.
func eventually(_ condition: () async throws -> Bool) async throws {
  while try await !condition() { try await Task.sleep(for: .milliseconds(10)) }
}

/// The error of a tier's function; nil if it threw none.
func tierError(_ body: () async throws -> Void) async -> SharedTierError? {
  do { try await body() } catch { return error as? SharedTierError ?? SharedTierError(.protocol, "\(error)") }
  return nil
}
