#if Redis
  import HTTPCaching

  /// The server, or the servers of a cluster, that have the keys of a tier: all that `RedisTier` needs of a client, so
  /// that another client can take this one's place.
  protocol RedisClient: Sendable {
    /// Sends the commands of some requests; those for one server are written together, in order.
    ///
    /// - Returns: the replies to each request, in order. An error is among them only if it is `NOSCRIPT` or says that
    ///   there is no such key.
    /// - Throws: the first other error of a reply; `timeout` at the deadline.
    func send(
      _ requests: [RedisRequest], on lane: RedisLane, by deadline: RedisDeadline
    ) async throws(SharedTierError) -> [[RESPValue]]

    /// Removes the keys that match a pattern from all servers, in steps.
    ///
    /// - Parameter step: the longest time of each step.
    func remove(matching pattern: String, within step: Duration) async throws(SharedTierError)

    /// Closes all connections. Nothing can be sent afterwards.
    func close() async
  }
#endif
