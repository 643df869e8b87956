import HTTPCaching
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10))) struct RedisSweepTests {
  private let endpoint = RedisEndpoint(host: "h", port: 1)

  /// A reply to SCAN.
  private func reply(_ cursor: String, _ keys: [String]) -> RESPValue {
    .array([.bulk(Array(cursor.utf8)), .array(keys.map { .bulk(Array($0.utf8)) })])
  }

  private func words(_ command: RedisCommand) -> [String] {
    command.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  @Test(
    "a server is asked with the cursor of its last reply until that is 0; its keys are removed one by one")
  func steps() async throws {
    var asked: [[String]] = []
    let sweep = RedisSweep(endpoint: endpoint, pattern: "p*")
    try await sweep.run { (commands: [RedisCommand]) async throws(SharedTierError) -> [RESPValue] in
      asked += commands.map(words)
      guard commands.first.map(words)?.first == "SCAN" else { return commands.map { _ in .integer(1) } }
      return [asked.count == 1 ? reply("17", ["a", "b"]) : reply("0", [])]
    }
    let expected: [[String]] = [
      ["SCAN", "0", "MATCH", "p*", "COUNT", "1000"], ["UNLINK", "a"], ["UNLINK", "b"],
      ["SCAN", "17", "MATCH", "p*", "COUNT", "1000"],
    ]
    #expect(asked == expected)
  }

  @Test("a server that never says that it is through is asked a bounded number of times")
  func endless() async throws {
    var count = 0
    let sweep = RedisSweep(endpoint: endpoint, pattern: "p*", mostSteps: 5)
    let error = await tierError {
      try await sweep.run { (_: [RedisCommand]) async throws(SharedTierError) -> [RESPValue] in
        count += 1
        return [reply("1", [])]
      }
    }
    #expect(error?.kind == .unavailable)
    #expect(count == 5)
  }

  @Test(
    "a reply without cursor and keys ends the sweep",
    arguments: [.null, .array([]), .integer(0)] as [RESPValue])
  func hostile(_ reply: RESPValue) async throws {
    let sweep = RedisSweep(endpoint: endpoint, pattern: "p*")
    let error = await tierError {
      try await sweep.run { (_: [RedisCommand]) async throws(SharedTierError) -> [RESPValue] in [reply] }
    }
    #expect(error?.kind == .protocol)
  }
}
