import NIOCore
import Synchronization

/// Knows the connections of clients, so that they can be counted and brought to an end.
final class ConnectionRegistry: Sendable {
  private struct Entry {
    let stream: ByteStream
    var isIdle = true
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var isDraining = false
    var emptied: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Whether connections end with their present request.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  /// The number of connections.
  var count: Int { state.withLock { $0.entries.count } }

  /// Adds a connection.
  ///
  /// - Returns: false if there are `limit` of them already, or none are taken any more.
  func add(_ stream: ByteStream, limit: Int) -> Bool {
    state.withLock { state in
      guard !state.isDraining, state.entries.count < limit else { return false }
      state.entries[ObjectIdentifier(stream)] = Entry(stream: stream)
      return true
    }
  }

  /// A request begins.
  ///
  /// - Returns: false if the connection was told to end before.
  func begin(_ stream: ByteStream) -> Bool {
    state.withLock { state in
      guard !state.isDraining else { return false }
      state.entries[ObjectIdentifier(stream)]?.isIdle = false
      return true
    }
  }

  /// Whether the connection waits for a request.
  func isIdle(_ stream: ByteStream) -> Bool {
    state.withLock { $0.entries[ObjectIdentifier(stream)]?.isIdle ?? true }
  }

  /// A request is answered.
  ///
  /// - Returns: whether the connection may wait for another one.
  func end(_ stream: ByteStream) -> Bool {
    state.withLock { state in
      state.entries[ObjectIdentifier(stream)]?.isIdle = true
      return !state.isDraining
    }
  }

  /// Forgets a connection.
  func remove(_ stream: ByteStream) {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.entries[ObjectIdentifier(stream)] = nil
      return state.entries.isEmpty ? state.emptied.take() : nil
    }?.resume()
  }

  /// Ends connections that wait for a request, and waits for the others; at `deadline` it resets those, so that no
  /// answer that is cut looks complete.
  func drain(until deadline: NIODeadline, on loop: any EventLoop) async {
    let idle = state.withLock { state in
      state.isDraining = true
      return state.entries.values.filter(\.isIdle).map(\.stream)
    }
    for stream in idle { stream.close() }
    let timer = loop.scheduleTask(deadline: deadline) {
      for stream in self.state.withLock({ $0.entries.values.map(\.stream) }) { stream.reset() }
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
