import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheRedis

/// The memory of a server, for operators.
@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisMemoryTests {
  @Test("memory in use, its limit, and the keys that were evicted")
  func memory() async throws {
    let server = try await RedisServer.start([
      "--maxmemory-policy", "allkeys-lru", "--enable-debug-command", "yes",
    ])
    let tier = try server.tier()
    let before = try await tier.memory()
    #expect(before.limit == 64 << 20 && before.evictions == 0)
    #expect((1..<before.limit).contains(before.used))
    try await server.send("DEBUG", "POPULATE", "2", "key", "\(40 << 20)")
    let after = try await tier.memory()
    #expect(after.used > before.used)
    // Eviction comes before the next command that writes.
    try await server.send("SET", "another", "value")
    #expect(try await tier.memory().evictions > 0)
  }

  @Test("a user without the permission is refused")
  func refused() async throws {
    let server = try await RedisServer.start()
    try await server.send("ACL", "SETUSER", "cache", "on", ">password", "~*", "+@all", "-info")
    let tier = try server.tier(user: "cache:password")
    let error = await tierError { _ = try await tier.memory() }
    #expect(
      error?.kind == .refused && error?.message.contains("NOPERM") == true, "\(String(describing: error))")
  }

  @Test("the length of the log is asked without a change")
  func logLength() async throws {
    let server = try await RedisServer.start()
    let tier = try server.tier()
    let empty = try await tier.logLength()
    #expect(empty.changes == 0 && empty.last == .start)
    #expect(try await server.send("DBSIZE") == .integer(0))
    let change = SharedChange(uid: "a", kind: .invalidate, selection: .all)
    _ = try await tier.add(change, at: nil)
    let position = try await tier.add(SharedChange(uid: "b", kind: .remove, selection: .all), at: nil)
    let log = try await tier.logLength()
    #expect(log.changes == 2 && log.last == position)
  }
}
