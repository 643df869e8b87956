#if Redis
  import Crypto
  import HTTPCacheSealing
  import HTTPCacheStore
  public import HTTPCaching
  import NIOPosix

  /// A tier on a Redis or Valkey server, or on a cluster of them, from version 7.0 of Redis and 7.2 of Valkey on.
  ///
  /// No function waits longer than its deadline, which includes connecting: 50 ms for look-ups and locks, 250 ms for
  /// changes, reports and lists of nodes, 1 s for writing a part of a body and for each 500 changes of the state, 5 s for
  /// publishing. Reading parts of a body ends after 250 ms without a byte, and after 5 s in all; waiting for changes,
  /// 250 ms for each 500 changes after the time that the caller waits; wiping a partition, after 250 ms without a step.
  ///
  /// It connects when it is first asked. A connection whose deadline passed is closed, and the next question makes
  /// another one.
  public final class RedisTier: SharedTier {
    /// The configured secret.
    public let secret: [UInt8]?
    /// The largest body that is shared, in bytes.
    public let largestBody: Int64

    let limits: RedisLimits
    let client: any RedisClient
    let keys: RedisKeys
    let seal: RedisSeal

    /// Makes a tier. It does not connect yet.
    ///
    /// - Throws: `SharedTierError` of the kind `refused` if the configuration cannot be used.
    public convenience init(_ configuration: Configuration) throws(SharedTierError) {
      try self.init(configuration, limits: RedisLimits())
    }

    convenience init(_ configuration: Configuration, limits: RedisLimits) throws(SharedTierError) {
      try configuration.check()
      let address = configuration.address
      let settings = RedisSettings(
        username: address.username, password: address.password, database: address.database,
        tls: try configuration.makeTLS(), group: MultiThreadedEventLoopGroup.singleton)
      try self.init(configuration, limits: limits, client: RedisCluster(address.endpoints, settings))
    }

    init(
      _ configuration: Configuration, limits: RedisLimits, client: any RedisClient
    ) throws(SharedTierError) {
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
      self.client = client
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
      let known = RedisCommand([.text("EVALSHA"), .text(script.digest)] + rest)
      let reply = try await send([known], for: keys[0], on: lane, by: deadline)[0]
      guard case .error = reply else { return reply }
      let whole = RedisCommand([.text("EVAL"), .text(script.source)] + rest)
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
#endif
