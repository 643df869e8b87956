#if Redis
  public import HTTPCacheSemantics
  public import HTTPCaching

  extension RedisTier {
    /// The value of a lock whose holder's response cannot be shared.
    private static let refusal = "-"

    /// Takes the lock of a key, or tells its holder. A token that holds the lock acquires it again.
    public func lock(
      _ key: CacheKey, token: String, ticket: SharedPosition, duration: Duration,
      overtaking overtaken: SharedPosition?
    ) async throws(SharedTierError) -> SharedLock {
      let name = keys.names(of: key).lock
      let value = "\(token)|\(ticket)"
      let duration = RedisArgument.number(Self.milliseconds(duration))
      let deadline = RedisDeadline(limits.question)
      let held: String?
      if let overtaken {
        let arguments: [RedisArgument] = [
          "take", .text(token), duration, .text(value), .text(overtaken.description),
        ]
        let reply = try await run(RedisScripts.lock, [name], arguments, by: deadline)
        if reply.number == 1 { return .acquired }
        held = reply.text
      } else {
        let replies = try await send(
          [
            RedisCommand("SET", .bytes(name), .text(value), "NX", "PX", duration),
            RedisCommand("GET", .bytes(name)),
          ], for: name, by: deadline)
        if replies[0].text == "OK" { return .acquired }
        held = replies[1].text
      }
      // It ended between the two commands: the next attempt gets it.
      guard let held else { throw SharedTierError(.unavailable, "the lock ended while it was asked for") }
      if held == Self.refusal { return .refused }
      guard let bar = held.lastIndex(of: "|"),
        let ticket = SharedPosition(String(held[held.index(after: bar)...]))
      else { throw Self.unexpected("the holder of a lock") }
      return held[..<bar] == token ? .acquired : .held(ticket: ticket)
    }

    /// Renews the lock of a fetch.
    public func renew(
      _ key: CacheKey, token: String, duration: Duration
    ) async throws(SharedTierError) -> Bool {
      try await change("renew", keys.names(of: key).lock, token: token, duration)
    }

    /// Ends the lock of a fetch.
    public func unlock(
      _ key: CacheKey, token: String, refusingFor refusal: Duration?
    ) async throws(SharedTierError) {
      let action: RedisArgument = refusal == nil ? "free" : "refuse"
      _ = try await change(action, keys.names(of: key).lock, token: token, refusal ?? .zero)
    }

    private func change(
      _ action: RedisArgument, _ name: [UInt8], token: String, _ duration: Duration
    ) async throws(SharedTierError) -> Bool {
      let reply = try await run(
        RedisScripts.lock, [name], [action, .text(token), .number(Self.milliseconds(duration))],
        by: RedisDeadline(limits.question))
      return reply.number == 1
    }
  }
#endif
