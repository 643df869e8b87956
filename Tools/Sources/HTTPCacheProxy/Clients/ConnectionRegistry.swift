import NIOCore
import Synchronization

/// Counts the connections of clients, and ends them.
final class ConnectionRegistry: Sendable {
  /// Whether a connection may be served.
  enum Admission: Sendable {
    case admitted
    /// There are too many connections, or the server is stopping.
    case full
    /// The client has too many connections.
    case clientIsFull
    /// Too many refused connections are being answered: this one is closed without an answer.
    case ignored
  }

  private struct Entry {
    let connection: any RegisteredConnection
    let client: ClientAddress?
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// The number of connections of each client.
    var clients: [ClientAddress: Int] = [:]
    /// The highest number of connections since `takeHighestCount` was called.
    var highest = 0
    /// The number of refused connections that are being answered.
    var refused = 0
    var emptied: CheckedContinuation<Void, Never>?
  }

  /// Maximum number of refused connections that are answered at the same time.
  private static let refusedLimit = 64

  private let state = Mutex(State())
  /// Not part of the state, because each request reads it, and connections of different event loops must not wait for
  /// one lock.
  private let draining = Atomic<Bool>(false)

  /// Whether connections end after their current request.
  var isDraining: Bool { draining.load(ordering: .sequentiallyConsistent) }

  /// The number of connections.
  var count: Int { state.withLock { $0.entries.count } }

  /// Returns the highest number of connections since the last call.
  func takeHighestCount() -> Int {
    state.withLock { state in
      defer { state.highest = state.entries.count }
      return state.highest
    }
  }

  /// Adds a connection.
  ///
  /// - Parameters:
  ///   - client: the client of the connection; nil if its connections are not counted.
  ///   - limit: maximum number of connections.
  ///   - clientLimit: maximum number of connections of one client.
  func add(
    _ connection: any RegisteredConnection, client: ClientAddress?, limit: Int, clientLimit: Int
  ) -> Admission {
    state.withLock { state in
      let isFull = isDraining || state.entries.count >= limit
      let ofClient = client.flatMap { state.clients[$0] } ?? 0
      guard !isFull, client == nil || ofClient < clientLimit else {
        guard state.refused < Self.refusedLimit else { return .ignored }
        state.refused += 1
        return isFull ? .full : .clientIsFull
      }
      state.entries[ObjectIdentifier(connection)] = Entry(connection: connection, client: client)
      state.highest = max(state.highest, state.entries.count)
      if let client { state.clients[client] = ofClient + 1 }
      return .admitted
    }
  }

  /// Adds a connection.
  ///
  /// - Parameter address: the address of its client; nil if it is not known.
  func add(
    _ connection: any RegisteredConnection, of address: IPAddress?, _ configuration: ProxyServer.Configuration
  ) -> Admission {
    let client = address.map { ClientAddress($0) }
    // The connections of a trusted proxy are those of many clients.
    let isTrusted = configuration.trustedForwarders.contains { address.map($0.contains) == true }
    let isCounted = !isTrusted && (client?.isLoopback == false || configuration.limitsLoopback)
    return add(
      connection, client: isCounted ? client : nil, limit: configuration.connectionLimit,
      clientLimit: configuration.connectionsPerClient)
  }

  /// Adds a connection of HTTP/2, which gets no answer if it is refused.
  ///
  /// - Returns: whether it may be served.
  func admits(
    _ connection: HTTP2Connection, of channel: any Channel, _ configuration: ProxyServer.Configuration
  ) -> Bool {
    switch add(connection, of: channel.remoteAddress.flatMap { IPAddress($0) }, configuration) {
    case .admitted: return true
    case .full, .clientIsFull: endRefusal()
    case .ignored: break
    }
    return false
  }

  /// Notes that a refused connection was answered.
  func endRefusal() { state.withLock { $0.refused -= 1 } }

  /// Notes the begin of a request.
  ///
  /// - Returns: false if the connection has to end.
  func begin(_ stream: ByteStream) -> Bool {
    // Mark the stream before the check: `drain` checks the mark after it has begun, so one of the two sees the other.
    stream.isBusy = true
    guard isDraining else { return true }
    stream.isBusy = false
    return false
  }

  /// Notes the end of a request.
  ///
  /// - Returns: whether the connection may wait for another request.
  func end(_ stream: ByteStream) -> Bool {
    stream.isBusy = false
    return !isDraining
  }

  /// Forgets a connection.
  func remove(_ connection: any RegisteredConnection) {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      if let client = state.entries.removeValue(forKey: ObjectIdentifier(connection))?.client {
        let left = (state.clients[client] ?? 1) - 1
        state.clients[client] = left > 0 ? left : nil
      }
      return state.entries.isEmpty ? state.emptied.take() : nil
    }?.resume()
  }

  /// Ends idle connections, and waits for the others until `deadline`. Then resets them, so that no cut response looks
  /// complete.
  func drain(until deadline: NIODeadline, on loop: any EventLoop) async {
    draining.store(true, ordering: .sequentiallyConsistent)
    let idle = state.withLock { $0.entries.values.map(\.connection).filter { !$0.isBusy } }
    for connection in idle { Task { await connection.closeWritten(within: deadline - .now()) } }
    let timer = loop.scheduleTask(deadline: deadline) {
      for connection in self.state.withLock({ $0.entries.values.map(\.connection) }) { connection.reset() }
    }
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if !state.entries.isEmpty { state.emptied = continuation }
        return state.entries.isEmpty
      }
      if isEmpty { continuation.resume() }
    }
    timer.cancel()
  }
}
