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

  /// The connections to an origin that the pool counts, over all event loops.
  struct Connections {
    /// The connections that hold a place, idle ones included.
    var open = 0
    var http2: [HTTP2OriginConnection] = []
    /// The open connections that have lost their place because they wait for slow clients.
    var placeless: Set<ObjectIdentifier> = []
    var waiters: [Waiter] = []
    /// The number of connections that are being opened and may speak HTTP/2.
    var opening = 0
    /// Whether `sweep` is scheduled.
    var isSweeping = false

    var isUnused: Bool { open == 0 && placeless.isEmpty && waiters.isEmpty }

    /// Takes the request that has waited longest.
    mutating func popWaiter() -> Waiter? { waiters.isEmpty ? nil : waiters.removeFirst() }
  }

  struct State {
    var origins: [Origin: Connections] = [:]
    var nextID = 0
    var isShutDown = false
  }

  let configuration: NIOUpstream.Configuration
  let group: any EventLoopGroup
  /// Taken to open or close a connection and to wait for one, not for a request that finds an idle connection.
  let state = Mutex(State())
  /// The number of requests that wait for a connection to any origin.
  let waiting = Atomic<Int>(0)
  let idleCount = Atomic<Int>(0)
  private let loops: [ObjectIdentifier: LoopConnections]
  /// The connections of event loops of other groups.
  private let otherLoops = LoopConnections()
  let connector: Connector

  init(group: any EventLoopGroup, configuration: NIOUpstream.Configuration) throws {
    self.group = group
    self.configuration = configuration
    loops = Dictionary(
      group.makeIterator().map { (ObjectIdentifier($0), LoopConnections()) },
      uniquingKeysWith: { first, _ in first })
    connector = try Connector(
      group: group, timeout: configuration.connectTimeout, tls: configuration.tls,
      addresses: configuration.addresses, limits: configuration.limits, idleTimeout: configuration.idleTimeout
    )
  }

  /// A connection to an origin.
  ///
  /// - Parameters:
  ///   - choice: the connections that will do, if there is one. A new one for a request that must not be sent again
  ///     speaks HTTP/1.1.
  ///   - deadline: the latest time to get one.
  /// - Throws: `UpstreamError`.
  func lease(
    _ origin: Origin, _ choice: Choice, until deadline: NIODeadline
  ) async throws(UpstreamError) -> ConnectionLease {
    let fresh = choice != .any
    if !fresh, mayBeHTTP2(origin), let lease = await stream(to: origin) { return lease }
    while choice != .new, let stream = takeIdle(origin, isRecent: fresh) {
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
      return try await lease(origin, choice, until: deadline)
    case .again: return try await lease(origin, choice, until: deadline)
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
    let mayBeHTTP2 = mayBeHTTP2(origin) && !fresh
    if mayBeHTTP2 { state.withLock { $0.origins[origin]?.opening += 1 } }
    do {
      // Before the place is given back: the origin may be forgotten with it.
      defer { if mayBeHTTP2 { state.withLock { $0.origins[origin]?.opening -= 1 } } }
      guard mayBeHTTP2 else { return .http1(try await connector.connect(to: origin, until: deadline)) }
      return try await connector.negotiate(with: origin, until: deadline)
    } catch {
      gone(origin)
      throw error
    }
  }

  private func mayBeHTTP2(_ origin: Origin) -> Bool {
    origin.isSecure && configuration.offersHTTP2 && configuration.proxy == nil
  }

  // MARK: Connections of an event loop

  private func hold(_ lease: ConnectionLease) -> ConnectionLease {
    connections(of: lease.stream).add(lease)
    return lease
  }

  private func connections(of stream: ByteStream) -> LoopConnections {
    loops[ObjectIdentifier(stream.channel.eventLoop)] ?? otherLoops
  }

  private var allLoops: [LoopConnections] { Array(loops.values) + [otherLoops] }

  /// An idle connection of the caller's event loop, which needs no change of thread; of any for a caller without one.
  ///
  /// - Parameter isRecent: whether the request must not be sent again.
  private func takeIdle(_ origin: Origin, isRecent: Bool) -> ByteStream? {
    guard let loop = MultiThreadedEventLoopGroup.currentEventLoop, let own = loops[ObjectIdentifier(loop)]
    else {
      return isRecent ? nil : takeIdleAnywhere(origin)
    }
    guard let stream = isRecent ? own.takeRecent(origin, at: .now()) : own.takeIdle(origin) else {
      return nil
    }
    idleCount.subtract(1, ordering: .relaxed)
    return stream
  }

  func takeIdleAnywhere(_ origin: Origin) -> ByteStream? {
    for connections in allLoops {
      guard let stream = connections.takeIdle(origin) else { continue }
      idleCount.subtract(1, ordering: .relaxed)
      return stream
    }
    return nil
  }

  /// Takes the places of at most `count` connections over HTTP/1.1 that wait for slow clients.
  func takeSlowPlaces(_ count: Int, of origin: Origin) -> [ObjectIdentifier] {
    var taken: [ObjectIdentifier] = []
    for connections in allLoops where taken.count < count {
      taken += connections.takePlaces(
        count - taken.count, of: origin, at: .now(), patience: configuration.clientPatience)
    }
    return taken
  }

  /// Notes that a connection in use gives its place to another connection.
  func giveUpPlace(of lease: ConnectionLease) {
    if connections(of: lease.stream).remove(lease) { gone(lease.origin) }
  }

  /// Removes a connection that is closed, or was never opened, from the count.
  func gone(_ origin: Origin) {
    let waiter = state.withLock { state -> Waiter? in
      if let waiter = state.origins[origin]?.popWaiter() { return waiter }
      state.origins[origin]?.open -= 1
      if state.origins[origin]?.isUnused == true { state.origins[origin] = nil }
      return nil
    }
    if let waiter { resume(CollectionOfOne(waiter), .permit) }
  }

  /// Resumes requests that waited, after they were removed from the state.
  func resume(_ waiters: some Collection<Waiter>, _ grant: Grant) {
    waiting.subtract(waiters.count, ordering: .sequentiallyConsistent)
    for waiter in waiters { waiter.continuation.resume(returning: grant) }
  }

  /// Forgets an origin without connections.
  func forgetIfUnused(_ origin: Origin) {
    state.withLock { if $0.origins[origin]?.isUnused == true { $0.origins[origin] = nil } }
  }

  /// Takes a connection back.
  ///
  /// - Parameter isReusable: false closes it.
  func release(_ lease: ConnectionLease, isReusable: Bool) {
    let (stream, origin) = (lease.stream, lease.origin)
    if lease.http2 != nil { return endStream(stream, isComplete: isReusable) }
    let isUsable = isReusable && !stream.hasBytes && !stream.isEnded
    let heldPlace = connections(of: stream).remove(lease)
    if isUsable, heldPlace || takePlaceAgain(lease) { return keep(stream, for: origin) }
    stream.close()
    if heldPlace { gone(origin) } else { forgetPlaceless(lease) }
  }

  /// Takes a place for a connection that gave its place away, so that it can be kept.
  private func takePlaceAgain(_ lease: ConnectionLease) -> Bool {
    state.withLock { state in
      guard state.origins[lease.origin, default: Connections()].open < configuration.connectionsPerOrigin
      else {
        return false
      }
      state.origins[lease.origin, default: Connections()].open += 1
      state.origins[lease.origin]?.placeless.remove(ObjectIdentifier(lease))
      return true
    }
  }

  private func forgetPlaceless(_ lease: ConnectionLease) {
    state.withLock { state in
      state.origins[lease.origin]?.placeless.remove(ObjectIdentifier(lease))
      if state.origins[lease.origin]?.isUnused == true { state.origins[lease.origin] = nil }
    }
  }

  /// Gives a connection to a request that waits for one, or keeps it for a while.
  private func keep(_ stream: ByteStream, for origin: Origin) {
    if let waiter = takeWaiter(of: origin) {
      return waiter.continuation.resume(returning: .connection(stream))
    }
    let watches = stream.watch(until: .now() + configuration.idleTimeout) { [weak self, weak stream] in
      guard let self, let stream else { return }
      self.dropIdle(stream, origin)
    }
    let isKept =
      watches && idleCount.add(1, ordering: .relaxed).newValue <= configuration.idleConnections
      && connections(of: stream).addIdle(stream, origin)
    guard isKept else {
      if watches { idleCount.subtract(1, ordering: .relaxed) }
      stream.close()
      return gone(origin)
    }
    // The watcher may have run before the connection was added.
    if stream.isEnded || stream.hasBytes { return dropIdle(stream, origin) }
    // A request that began to wait before the connection was added did not find it.
    guard let waiter = takeWaiter(of: origin) else { return }
    guard let idle = takeIdleAnywhere(origin) else { return waiter.continuation.resume(returning: .again) }
    if idle.unwatch() { return waiter.continuation.resume(returning: .connection(idle)) }
    idle.close()
    waiter.continuation.resume(returning: .permit)
  }

  /// Takes the request that has waited longest for a connection to an origin.
  private func takeWaiter(of origin: Origin) -> Waiter? {
    guard waiting.load(ordering: .sequentiallyConsistent) > 0 else { return nil }
    let waiter = state.withLock { $0.origins[origin]?.popWaiter() }
    if waiter != nil { waiting.subtract(1, ordering: .sequentiallyConsistent) }
    return waiter
  }

  private func dropIdle(_ stream: ByteStream, _ origin: Origin) {
    guard connections(of: stream).take(stream, origin) else { return }
    idleCount.subtract(1, ordering: .relaxed)
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
    let idle = allLoops.flatMap { $0.shutDown() }
    idleCount.subtract(idle.count, ordering: .relaxed)
    for (origin, stream) in idle {
      stream.close()
      gone(origin)
    }
  }
}
