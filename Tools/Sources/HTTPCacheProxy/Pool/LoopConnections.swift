import NIOCore
import Synchronization

/// The connections over HTTP/1.1 of one event loop: idle ones, and those in use that hold a place.
///
/// Requests of the loop take connections and give them back without waiting for other loops. Other loops look in here
/// only when all places for an origin are taken.
final class LoopConnections: Sendable {
  private struct Connections {
    /// The most recently used is last.
    var idle: [ByteStream] = []
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
      return state.origins[origin]?.idle.popLast()
    }
  }

  /// Takes one idle connection.
  ///
  /// - Returns: whether it was idle.
  func take(_ stream: ByteStream, _ origin: Origin) -> Bool {
    state.withLock { state in
      guard let index = state.origins[origin]?.idle.lastIndex(where: { $0 === stream }) else { return false }
      state.origins[origin]?.idle.remove(at: index)
      state.forgetIfEmpty(origin)
      return true
    }
  }

  /// Adds an idle connection.
  ///
  /// - Returns: false after `shutDown`.
  func addIdle(_ stream: ByteStream, _ origin: Origin) -> Bool {
    state.withLock { state in
      guard !state.isShutDown else { return false }
      state.origins[origin, default: Connections()].idle.append(stream)
      return true
    }
  }

  /// Takes all idle connections, and accepts no more.
  func shutDown() -> [(Origin, ByteStream)] {
    state.withLock { state in
      state.isShutDown = true
      var all: [(Origin, ByteStream)] = []
      for origin in Array(state.origins.keys) {
        all += (state.origins[origin]?.idle ?? []).map { (origin, $0) }
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
