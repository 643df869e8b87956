#if Redis
  import HTTPCaching
  import Synchronization

  /// One server, with a connection for each lane that is made when it is first used, and again after it was closed.
  final class RedisNode: Sendable {
    let endpoint: RedisEndpoint
    private let settings: RedisSettings
    /// Nil after `close`.
    private let connections = Mutex<[RedisLane: RedisConnection]?>([:])

    init(_ endpoint: RedisEndpoint, _ settings: RedisSettings) {
      self.endpoint = endpoint
      self.settings = settings
    }

    /// Sends commands over the connection of a lane.
    func send(
      _ commands: [RedisCommand], on lane: RedisLane, by deadline: RedisDeadline
    ) async throws(SharedTierError) -> [RESPValue] {
      let isLog = lane == .log || lane == .newLog
      let open: RedisConnection? = connections.withLock { connections in
        guard connections != nil else { return nil }
        let place = isLog ? RedisLane.log : lane
        if let connection = connections?[place], !connection.isClosed { return connection }
        // A new connection may lead to a server that has lost changes.
        guard lane != .log else { return nil }
        let connection = RedisConnection(to: endpoint, settings)
        connections?[place] = connection
        return connection
      }
      guard let open else { throw SharedTierError(.unreachable, "\(endpoint): no connection") }
      return try await open.send(commands, by: deadline)
    }

    /// Closes the connections that are open. The next commands make new ones, which look up the host again.
    func reconnect() { closeAll(connections.withLock { connections in replace(&connections, with: [:]) }) }

    /// Closes the connection to the log, which another server has now.
    func closeLog() { closeAll(connections.withLock { [$0?.removeValue(forKey: .log)].compactMap { $0 } }) }

    /// Closes all connections for good.
    func close() { closeAll(connections.withLock { connections in replace(&connections, with: nil) }) }

    private func replace(
      _ connections: inout [RedisLane: RedisConnection]?, with new: [RedisLane: RedisConnection]?
    ) -> [RedisConnection] {
      defer { connections = connections == nil ? nil : new }
      return connections.map { Array($0.values) } ?? []
    }

    private func closeAll(_ connections: [RedisConnection]) {
      for connection in connections { connection.close(.unreachable, "closed") }
    }
  }
#endif
