import HTTPCaching
import NIOCore
import NIOPosix
import Synchronization

/// Keeps connections to origins open and bounds their number.
final class ConnectionPool: Sendable {
  struct Waiter {
    let id: Int
    /// Whether a stream of HTTP/2 is of no use.
    let fresh: Bool
    let continuation: CheckedContinuation<Grant, Never>
  }

  enum Grant {
    case connection(ByteStream)
    case permit
    case stream(HTTP2OriginConnection)
    /// Look for a connection again.
    case again
    case timedOut
    case cancelled
  }

  struct Connections {
    /// The connections that hold a place, idle ones included.
    var open = 0
    /// Idle connections; the most recently used is last.
    var idle: [ByteStream] = []
    var http2: [HTTP2OriginConnection] = []
    /// The open connections that have lost their place because they wait for slow clients.
    var placeless: Set<ObjectIdentifier> = []
    /// The connections in use over HTTP/1.1 that hold a place.
    var leases: [ObjectIdentifier: ConnectionLease] = [:]
    var waiters: [Waiter] = []
    /// The number of connections that are being opened and may speak HTTP/2.
    var opening = 0
    /// Whether `sweep` is scheduled.
    var isSweeping = false

    var isUnused: Bool { open == 0 && placeless.isEmpty }
  }

  struct State {
    var origins: [Origin: Connections] = [:]
    var idleCount = 0
    var nextID = 0
    var isShutDown = false
  }

  let configuration: NIOUpstream.Configuration
  let group: any EventLoopGroup
  let state = Mutex(State())
  private let connector: Connector

  init(group: any EventLoopGroup, configuration: NIOUpstream.Configuration) throws {
    self.group = group
    self.configuration = configuration
    connector = try Connector(
      group: group, timeout: configuration.connectTimeout, tls: configuration.tls,
      addresses: configuration.addresses, limits: configuration.limits, idleTimeout: configuration.idleTimeout
    )
  }

  /// The number of open connections, and of idle ones among them.
  var counts: (open: Int, idle: Int) {
    state.withLock { state in (state.origins.values.reduce(0) { $0 + $1.open }, state.idleCount) }
  }

  /// A connection to an origin.
  ///
  /// - Parameters:
  ///   - fresh: whether to open a new connection; it then speaks HTTP/1.1.
  ///   - deadline: the latest time to get one.
  /// - Throws: `UpstreamError`.
  func lease(
    _ origin: Origin, fresh: Bool, until deadline: NIODeadline
  ) async throws(UpstreamError) -> ConnectionLease {
    if !fresh, let lease = await stream(to: origin) { return lease }
    while !fresh, let stream = takeIdle(origin) {
      if stream.unwatch() { return hold(ConnectionLease(stream, origin, isReused: true)) }
      stream.close()
      gone(origin)
    }
    switch await permit(origin, fresh: fresh, until: deadline) {
    case .connection(let stream): return hold(ConnectionLease(stream, origin, isReused: true))
    case .timedOut: throw UpstreamError(.timeout, "all connections to \(origin) are in use")
    case .cancelled: throw UpstreamError(.cancelled, "cancelled")
    case .stream(let connection):
      if let lease = await connection.open(origin) { return lease }
      return try await lease(origin, fresh: fresh, until: deadline)
    case .again: return try await lease(origin, fresh: fresh, until: deadline)
    case .permit: break
    }
    switch try await open(origin, fresh: fresh, until: deadline) {
    case .http1(let stream): return hold(ConnectionLease(stream, origin, isReused: false))
    case .http2(let connection):
      if let lease = await add(connection, for: origin) { return lease }
      throw UpstreamError(.unreachable, "\(origin) closed the connection")
    }
  }

  /// Opens a connection on a place that the caller has.
  private func open(
    _ origin: Origin, fresh: Bool, until deadline: NIODeadline
  ) async throws(UpstreamError) -> Connector.Connection {
    let mayBeHTTP2 = configuration.offersHTTP2 && configuration.proxy == nil && origin.isSecure && !fresh
    if mayBeHTTP2 { state.withLock { $0.origins[origin]?.opening += 1 } }
    defer { if mayBeHTTP2 { state.withLock { $0.origins[origin]?.opening -= 1 } } }
    do {
      guard mayBeHTTP2 else { return .http1(try await connector.connect(to: origin, until: deadline)) }
      return try await connector.negotiate(with: origin, until: deadline)
    } catch {
      gone(origin)
      throw error
    }
  }

  /// Opens a connection outside of the pool.
  ///
  /// - Throws: `UpstreamError`.
  func connect(to origin: Origin) async throws(UpstreamError) -> ByteStream {
    try await connector.connect(to: origin)
  }

  private func hold(_ lease: ConnectionLease) -> ConnectionLease {
    state.withLock {
      $0.origins[lease.origin, default: Connections()].leases[ObjectIdentifier(lease)] = lease
    }
    return lease
  }

  private func takeIdle(_ origin: Origin) -> ByteStream? {
    let loop = MultiThreadedEventLoopGroup.currentEventLoop
    return state.withLock { state in
      guard let idle = state.origins[origin]?.idle, !idle.isEmpty else { return nil }
      // Prefer a connection on the caller's event loop: it needs no change of thread.
      let index = idle.lastIndex { $0.channel.eventLoop === loop } ?? idle.count - 1
      state.idleCount -= 1
      return state.origins[origin]?.idle.remove(at: index)
    }
  }

  /// Removes a connection that is closed, or was never opened, from the count.
  func gone(_ origin: Origin) {
    let waiter = state.withLock { state -> Waiter? in
      guard var connections = state.origins[origin] else { return nil }
      defer { state.origins[origin] = connections.isUnused ? nil : connections }
      if !connections.waiters.isEmpty { return connections.waiters.removeFirst() }
      connections.open -= 1
      return nil
    }
    waiter?.continuation.resume(returning: .permit)
  }

  /// Forgets an origin without connections.
  func forgetIfUnused(_ origin: Origin) {
    state.withLock { if $0.origins[origin]?.isUnused == true { $0.origins[origin] = nil } }
  }

  /// Takes a connection back.
  ///
  /// - Parameter isReusable: false closes it.
  func release(_ lease: ConnectionLease, isReusable: Bool) {
    let stream = lease.stream
    if lease.http2 != nil { return endStream(stream, isComplete: isReusable) }
    let origin = lease.origin
    let isUsable = isReusable && !stream.hasBytes && !stream.isEnded
    let heldPlace = state.withLock { state in
      var connections = state.origins[origin, default: Connections()]
      defer { state.origins[origin] = connections.isUnused ? nil : connections }
      connections.placeless.remove(ObjectIdentifier(lease))
      if connections.leases.removeValue(forKey: ObjectIdentifier(lease)) != nil { return true }
      // A connection that gave its place away needs a new place to be kept.
      guard isUsable, connections.open < configuration.connectionsPerOrigin else { return false }
      connections.open += 1
      return true
    }
    guard isUsable, heldPlace else {
      stream.close()
      if heldPlace { gone(origin) }
      return
    }
    enum Place {
      case waiter(Waiter)
      case idle
      case none
    }
    let place = state.withLock { state -> Place in
      guard var connections = state.origins[origin], !state.isShutDown else { return .none }
      defer { state.origins[origin] = connections }
      if !connections.waiters.isEmpty { return .waiter(connections.waiters.removeFirst()) }
      return state.idleCount < configuration.idleConnections ? .idle : .none
    }
    switch place {
    case .waiter(let waiter): return waiter.continuation.resume(returning: .connection(stream))
    case .none:
      stream.close()
      return gone(origin)
    case .idle: keep(stream, for: origin)
    }
  }

  private func keep(_ stream: ByteStream, for origin: Origin) {
    let watches = stream.watch(until: .now() + configuration.idleTimeout) { [weak self, weak stream] in
      guard let self, let stream else { return }
      self.dropIdle(stream, origin)
    }
    guard watches else {
      stream.close()
      return gone(origin)
    }
    let (isKept, waiter) = state.withLock { state -> (Bool, Waiter?) in
      guard !state.isShutDown, var connections = state.origins[origin] else { return (false, nil) }
      defer { state.origins[origin] = connections }
      // A request may have begun to wait since the last look.
      if !connections.waiters.isEmpty { return (true, connections.waiters.removeFirst()) }
      connections.idle.append(stream)
      state.idleCount += 1
      return (true, nil)
    }
    if let waiter {
      if stream.unwatch() {
        waiter.continuation.resume(returning: .connection(stream))
      } else {
        stream.close()
        waiter.continuation.resume(returning: .permit)
      }
      return
    }
    // The watcher may have run before the connection was added to the idle ones.
    if !isKept {
      stream.close()
      gone(origin)
    } else if stream.isEnded || stream.hasBytes {
      dropIdle(stream, origin)
    }
  }

  private func dropIdle(_ stream: ByteStream, _ origin: Origin) {
    let isMine = state.withLock { state -> Bool in
      guard let index = state.origins[origin]?.idle.firstIndex(where: { $0 === stream }) else { return false }
      state.origins[origin]?.idle.remove(at: index)
      state.idleCount -= 1
      return true
    }
    guard isMine else { return }
    stream.close()
    gone(origin)
  }

  /// Closes idle connections; connections in use are closed when they are given back.
  func shutDown() {
    let http2 = state.withLock { state in
      state.isShutDown = true
      return state.origins.values.flatMap(\.http2)
    }
    for connection in http2 { connection.retire() }
    let idle = state.withLock { state -> [(Origin, ByteStream)] in
      state.idleCount = 0
      var all: [(Origin, ByteStream)] = []
      for origin in state.origins.keys {
        all += (state.origins[origin]?.idle ?? []).map { (origin, $0) }
        state.origins[origin]?.idle = []
      }
      return all
    }
    for (origin, stream) in idle {
      stream.close()
      gone(origin)
    }
  }
}
