#if Redis
  import HTTPCaching

  /// Removes the keys of a server that match a pattern, in steps.
  struct RedisSweep: Sendable {
    let endpoint: RedisEndpoint
    let pattern: String
    /// The number of steps after which a server is left that has not gone through its keys. A step is about 1,000 keys.
    var mostSteps = 100_000

    private static let start = Array("0".utf8)

    /// Goes through the keys of the server.
    ///
    /// - Parameter ask: sends commands to the server, and throws for an error among the replies.
    /// - Throws: `SharedTierError` of the kind `unavailable` after `mostSteps`: the other keys stay.
    func run(
      _ ask: ([RedisCommand]) async throws(SharedTierError) -> [RESPValue]
    ) async throws(SharedTierError) {
      var cursor = Self.start
      for _ in 0..<mostSteps {
        let scan: RedisCommand = ["SCAN", .bytes(cursor), "MATCH", .text(pattern), "COUNT", "1000"]
        guard let parts = try await ask([scan]).first?.elements, parts.count == 2, let next = parts[0].bytes,
          let keys = parts[1].elements
        else { throw SharedTierError(.protocol, "\(endpoint): a reply to SCAN without cursor and keys") }
        // One by one: the keys are in different slots.
        let commands: [RedisCommand] = keys.compactMap(\.bytes).map { ["UNLINK", .bytes($0)] }
        if !commands.isEmpty { _ = try await ask(commands) }
        if next == Self.start { return }
        cursor = next
      }
      throw SharedTierError(
        .unavailable, "\(endpoint): more than \(mostSteps) steps of SCAN; the other keys stay")
    }
  }
#endif
