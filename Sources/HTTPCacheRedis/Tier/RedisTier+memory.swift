#if Redis
  public import HTTPCaching

  extension RedisTier {
    /// The memory of a server.
    public struct Memory: Sendable, Hashable {
      /// The bytes in use.
      public let used: Int64
      /// The most bytes that the server uses (`maxmemory`); 0 is no limit.
      public let limit: Int64
      /// The number of keys that the server has evicted since it was started.
      public let evictions: Int64
    }

    /// The memory of the server that keeps the log, for operators. The user needs the permission `+info`.
    ///
    /// - Throws: `SharedTierError`, after 250 ms at the latest.
    public func memory() async throws(SharedTierError) -> Memory {
      let replies = try await send(
        [RedisCommand("INFO", "memory"), RedisCommand("INFO", "stats")], for: keys.log,
        by: RedisDeadline(limits.change))
      var values: [Substring: Int64] = [:]
      for line in replies.compactMap(\.text).joined(separator: "\n").split(whereSeparator: \.isNewline) {
        guard let colon = line.firstIndex(of: ":") else { continue }
        values[line[..<colon]] = Int64(line[line.index(after: colon)...])
      }
      guard let used = values["used_memory"], let limit = values["maxmemory"],
        let evictions = values["evicted_keys"]
      else { throw Self.unexpected("the memory") }
      return Memory(used: used, limit: limit, evictions: evictions)
    }

    /// How many changes the log still has, and the position of the last one, for operators. Unlike `state()`, it changes
    /// nothing.
    ///
    /// - Throws: `SharedTierError`, after 250 ms at the latest.
    public func logLength() async throws(SharedTierError) -> (changes: Int, last: SharedPosition) {
      let reply = try await send(
        [RedisCommand("XINFO", "STREAM", .bytes(keys.log))], for: keys.log, by: RedisDeadline(limits.change))[
          0]
      // No change was added yet.
      if case .error = reply { return (0, .start) }
      var (changes, last): (Int?, SharedPosition?)
      let facts = reply.elements ?? []
      for index in stride(from: 0, to: facts.count - 1, by: 2) {
        switch facts[index].text {
        case "length": changes = facts[index + 1].number.flatMap { Int(exactly: $0) }
        case "last-generated-id": last = SharedPosition(facts[index + 1].text)
        default: break
        }
      }
      guard let changes, changes >= 0, let last else { throw Self.unexpected("the log") }
      return (changes, last)
    }
  }
#endif
