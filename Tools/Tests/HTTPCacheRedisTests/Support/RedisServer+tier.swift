import HTTPCaching
import NIOPosix
import ServerTesting

@testable import HTTPCacheRedis

/// Addresses, tiers and commands for tests of tiers.
extension RedisServer {
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
  func send(_ words: String..., by limit: Duration = .seconds(60)) async throws -> RESPValue {
    try await Self.send(words, port: port, by: limit)
  }

  /// Sends a command to a port of this machine.
  @discardableResult
  static func send(_ words: [String], port: Int, by limit: Duration = .seconds(60)) async throws -> RESPValue
  {
    let settings = RedisSettings(
      username: nil, password: nil, database: 0, tls: nil, group: MultiThreadedEventLoopGroup.singleton,
      limits: RedisLimits(connection: limit))
    let connection = RedisConnection(to: RedisEndpoint(host: "127.0.0.1", port: port), settings)
    defer { connection.close(.unreachable, "done") }
    let reply = try await connection.send([words.map { .text($0) }], by: RedisDeadline(limit))[0]
    if case .error(let text) = reply { throw SharedTierError(.refused, text) }
    return reply
  }
}

/// Runs a test with a server of its own, and a tier on it.
func withTier(
  _ change: (inout RedisTier.Configuration) -> Void = { _ in },
  _ body: (RedisTier, RedisServer) async throws -> Void
) async throws {
  let server = try await RedisServer.start()
  let tier = try server.tier(change)
  try await body(tier, server)
  await tier.close()
  await server.kill()
}

extension RedisLimits {
  /// A minute for everything.
  static let long = RedisLimits(
    connection: .seconds(60), layout: .seconds(60), question: .seconds(60), change: .seconds(60),
    state: .seconds(60),
    part: .seconds(60),
    progress: .seconds(60),
    publication: .seconds(60))
}

/// The error of a tier's function; nil if it threw none.
func tierError(_ body: () async throws -> Void) async -> SharedTierError? {
  do { try await body() } catch { return error as? SharedTierError ?? SharedTierError(.protocol, "\(error)") }
  return nil
}
