import NIOCore
import Synchronization

/// The connections over HTTP/1.1 of one event loop: idle ones, and those in use that hold a place.
///
/// Requests of the loop take connections and give them back without waiting for other loops. Other loops look in here
/// only when all places for an origin are taken.
final class LoopConnections: Sendable {
  private struct Idle {
    let stream: ByteStream
    /// When its last request ended.
    let since: NIODeadline
  }

  private struct Connections {
    /// The most recently used is last.
    var idle: [Idle] = []
    var leases: [ObjectIdentifier: ConnectionLease] = [:]

    var isEmpty: Bool { idle.isEmpty && leases.isEmpty }
  }

  private struct State {
    var origins: [Origin: Connections] = [:]
    var isShutDown = false

    mutating func forgetIfEmpty(_ origin: Origin) {
      if origins[origin]?.isEmpty == true { origins[origin] = nil }
    }
  }

  private let state = Mutex(State())

  // MARK: Idle connections

  /// Takes the idle connection that was used last.
  func takeIdle(_ origin: Origin) -> ByteStream? {
    state.withLock { state in
      defer { state.forgetIfEmpty(origin) }
      return state.origins[origin]?.idle.popLast()?.stream
    }
  }

  /// An idle connection is closed at any moment by an origin that keeps it no longer.
  private static let shortestKeepAlive = TimeAmount.seconds(1)
  /// An origin that ends connections with their response has closed them after this time.
  private static let longestClose = TimeAmount.milliseconds(10)

  /// Takes the idle connection that was used last for a request that must not be sent twice (RFC 9110 §9.2.2), if the
  /// origin is not about to close it: it was used within the last second, and the origin has left the one open that is
  /// idle for longest.
  func takeRecent(_ origin: Origin, at now: NIODeadline) -> ByteStream? {
    state.withLock { state in
      guard let idle = state.origins[origin]?.idle, let first = idle.first, let last = idle.last,
        last.since + Self.shortestKeepAlive > now, first.since + Self.longestClose <= now
      else { return nil }
      defer { state.forgetIfEmpty(origin) }
      return state.origins[origin]?.idle.popLast()?.stream
    }
  }

  /// Takes one idle connection.
  ///
  /// - Returns: whether it was idle.
  func take(_ stream: ByteStream, _ origin: Origin) -> Bool {
    state.withLock { state in
      guard let index = state.origins[origin]?.idle.lastIndex(where: { $0.stream === stream })
      else { return false }
      state.origins[origin]?.idle.remove(at: index)
      state.forgetIfEmpty(origin)
      return true
    }
  }

  /// Adds an idle connection.
  ///
  /// - Returns: false after `shutDown`.
  func addIdle(_ stream: ByteStream, _ origin: Origin, at now: NIODeadline = .now()) -> Bool {
    state.withLock { state in
      guard !state.isShutDown else { return false }
      state.origins[origin, default: Connections()].idle.append(Idle(stream: stream, since: now))
      return true
    }
  }

  /// Takes all idle connections, and accepts no more.
  func shutDown() -> [(Origin, ByteStream)] {
    state.withLock { state in
      state.isShutDown = true
      var all: [(Origin, ByteStream)] = []
      for origin in Array(state.origins.keys) {
        all += (state.origins[origin]?.idle ?? []).map { (origin, $0.stream) }
        state.origins[origin]?.idle = []
      }
      return all
    }
  }

  // MARK: Connections in use

  /// Notes that a connection in use holds a place.
  func add(_ lease: ConnectionLease) {
    state.withLock {
      $0.origins[lease.origin, default: Connections()].leases[ObjectIdentifier(lease)] = lease
    }
  }

  /// Ends the use of a connection.
  ///
  /// - Returns: whether it held its place until now.
  func remove(_ lease: ConnectionLease) -> Bool {
    let origin = lease.origin
    return state.withLock { state in
      let held = state.origins[origin]?.leases.removeValue(forKey: ObjectIdentifier(lease)) != nil
      state.forgetIfEmpty(origin)
      return held
    }
  }

  /// Takes the places of at most `count` connections that wait for slow clients.
  func takePlaces(_ count: Int, of origin: Origin, at now: NIODeadline, patience: TimeAmount)
    -> [ObjectIdentifier]
  {
    state.withLock { state in
      let slow = (state.origins[origin]?.leases ?? [:]).filter {
        $0.value.pace.isSlow(at: now, patience: patience)
      }
      let taken = Array(slow.keys.prefix(count))
      for id in taken { state.origins[origin]?.leases[id] = nil }
      return taken
    }
  }
}
