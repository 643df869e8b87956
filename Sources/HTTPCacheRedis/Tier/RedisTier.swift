#if Redis
  import Crypto
  import HTTPCacheSealing
  public import HTTPCacheSemantics
  import HTTPCacheStore
  public import HTTPCaching
  import NIOPosix

  /// A tier on a Redis or Valkey server, or on a cluster of them, from version 7.0 of Redis and 7.2 of Valkey on.
  ///
  /// No function waits longer than its deadline, which includes connecting: 50 ms for look-ups and locks, 250 ms for
  /// changes, reports and lists of nodes, 1 s for writing a part of a body and for each 500 changes of the state, 5 s for
  /// publishing. Reading parts of a body ends after 250 ms without a byte, and after 5 s in all; waiting for changes,
  /// 250 ms for each 500 changes after the time that the caller waits; wiping a partition, after 250 ms without a step,
  /// and after 100,000 steps of one server.
  ///
  /// It connects when it is first asked. A connection whose deadline passed is closed, and the next question makes
  /// another one.
  public final class RedisTier: SharedTier {
    /// The configured secret.
    public let secret: [UInt8]?
    /// The largest body that is shared, in bytes.
    public let largestBody: Int64

    let limits: RedisLimits
    let client: RedisCluster
    let keys: RedisKeys
    let seal: RedisSeal

    /// Makes a tier. It does not connect yet.
    ///
    /// - Throws: `SharedTierError` of the kind `refused` if the configuration cannot be used.
    public convenience init(_ configuration: Configuration) throws(SharedTierError) {
      try self.init(configuration, limits: RedisLimits())
    }

    init(_ configuration: Configuration, limits: RedisLimits) throws(SharedTierError) {
      try configuration.check()
      let address = configuration.address
      let settings = RedisSettings(
        username: address.username, password: address.password, database: address.database,
        tls: try configuration.makeTLS(), group: MultiThreadedEventLoopGroup.singleton, limits: limits)
      let name = Array("swift-http-cache fleet \(configuration.name)".utf8)
      let salt = Array(SHA256.hash(data: name + (configuration.secret ?? [])))
      do throws(CacheError) {
        let cipher = try configuration.encryption.map { (encryption) throws(CacheError) in
          try encryption.cipher(secret: salt)
        }
        seal = RedisSeal(cipher: cipher)
        // Without a secret, names of keys are digests that only the cipher's key makes unpredictable.
        keys = RedisKeys(
          name: configuration.name, secret: configuration.secret ?? cipher?.digest(name) ?? name)
      } catch {
        throw SharedTierError(.refused, "the encryption cannot be used: \(error)")
      }
      secret = configuration.secret
      largestBody = configuration.largestBody
      self.limits = limits
      client = RedisCluster(address.endpoints, settings)
    }

    /// Closes all connections.
    public func close() async { await client.close() }

    /// Sends the commands for one key.
    func send(
      _ commands: [RedisCommand], for key: [UInt8], on lane: RedisLane = .questions,
      by deadline: RedisDeadline
    ) async throws(SharedTierError) -> [RESPValue] {
      guard let replies = try await client.send([RedisRequest(key, commands)], on: lane, by: deadline).first,
        replies.count == commands.count
      else { throw Self.unexpected("the number of replies") }
      return replies
    }

    /// Runs a script, which is sent in full only to a server that does not know it.
    func run(
      _ script: RedisScript, _ keys: [[UInt8]], _ arguments: [RedisArgument], on lane: RedisLane = .questions,
      by deadline: RedisDeadline
    ) async throws(SharedTierError) -> RESPValue {
      var rest: [RedisArgument] = [.number(keys.count)]
      for key in keys { rest.append(.bytes(key)) }
      rest += arguments
      let known: RedisCommand = ["EVALSHA", .text(script.digest)] + rest
      let reply = try await send([known], for: keys[0], on: lane, by: deadline)[0]
      guard case .error = reply else { return reply }
      let whole: RedisCommand = ["EVAL", .text(script.source)] + rest
      return try await send([whole], for: keys[0], on: lane, by: deadline)[0]
    }

    /// The time of a reply to `TIME`, in milliseconds since 1970.
    static func time(_ reply: RESPValue) throws(SharedTierError) -> Int64 {
      guard let parts = reply.elements, parts.count == 2, let seconds = parts[0].number,
        let micros = parts[1].number, (0...9_999_999_999).contains(seconds), (0...999_999).contains(micros)
      else { throw unexpected("the time") }
      return seconds * 1_000 + micros / 1_000
    }

    static func unexpected(_ what: String) -> SharedTierError {
      SharedTierError(.protocol, "the reply is not what the server promises: \(what)")
    }

    /// Whole milliseconds, at least 1, at most a year.
    static func milliseconds(_ duration: Duration) -> Int64 {
      let (seconds, attoseconds) = duration.components
      guard seconds < 31_536_000 else { return 31_536_000_000 }
      return max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
  }

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
        [["INFO", "memory"], ["INFO", "stats"]], for: keys.log, by: RedisDeadline(limits.change))
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
      let deadline = RedisDeadline(limits.change)
      let reply = try await send([["XINFO", "STREAM", .bytes(keys.log)]], for: keys.log, by: deadline)[0]
      // No change was added yet.
      if case .error = reply { return (0, .start) }
      let facts = reply.fields ?? [:]
      guard let changes = facts["length"]?.number.flatMap({ Int(exactly: $0) }), changes >= 0,
        let last = SharedPosition(facts["last-generated-id"]?.text)
      else { throw Self.unexpected("the log") }
      return (changes, last)
    }
  }

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
          [["SET", .bytes(name), .text(value), "NX", "PX", duration], ["GET", .bytes(name)]], for: name,
          by: deadline)
        if replies[0].text == "OK" { return .acquired }
        held = replies[1].text
      }
      // The lock ended between the two commands: the caller's next attempt gets it.
      guard let held else { return .held(ticket: ticket) }
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
