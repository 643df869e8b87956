import HTTPCaching
import NIOCore
import Synchronization

/// Places for connections to an origin, and the requests that wait for one.
extension ConnectionPool {
  /// The connections that a request may use.
  enum Choice {
    /// Any: the request may be sent again.
    case any
    /// Those over HTTP/1.1 that the origin is not about to close (`LoopConnections.takeRecent`).
    case recent
    /// A new one over HTTP/1.1.
    case new
  }

  func permit(_ origin: Origin, fresh: Bool, until deadline: NIODeadline) async -> Grant {
    let (id, place) = state.withLock { state in
      state.nextID += 1
      return (state.nextID, takePlace(in: &state, of: origin, fresh: fresh))
    }
    guard let place else { return await wait(id, origin, fresh: fresh, until: deadline) }
    return place.taken()
  }

  private enum Place {
    case free
    /// An idle connection of another event loop.
    case idle(ByteStream)
    /// The place of an idle connection, to be closed.
    case replacing(ByteStream)
    /// The place of an unused connection over HTTP/2, to be closed.
    case retiring(HTTP2OriginConnection)
    /// No place is needed: the connection, on another event loop, has a free stream.
    case none(HTTP2OriginConnection)

    func taken() -> Grant {
      switch self {
      case .free: break
      case .idle(let stream):
        if stream.unwatch() { return .connection(stream) }
        stream.close()
      case .replacing(let stream): stream.close()
      case .retiring(let connection): connection.retire()
      case .none(let connection): return .stream(connection)
      }
      return .permit
    }
  }

  /// Takes a place for a new connection.
  ///
  /// - Returns: nil if the request has to wait.
  private func takePlace(in state: inout State, of origin: Origin, fresh: Bool) -> Place? {
    let connections = state.origins[origin, default: Connections()]
    let isFull = connections.open >= configuration.connectionsPerOrigin
    if !fresh, isFull || connections.opening > 0, let other = connections.http2.first(where: \.hasFreeStream)
    {
      return Place.none(other)
    }
    // Many requests find streams on the connection that is being opened.
    if !fresh, connections.opening > 0, !connections.http2.isEmpty { return nil }
    if connections.open < configuration.connectionsPerOrigin {
      state.origins[origin, default: Connections()].open += 1
      return .free
    }
    if let idle = takeIdleAnywhere(origin) { return fresh ? .replacing(idle) : .idle(idle) }
    let unused = connections.http2.first { connection in
      connection.isUnused && (fresh || !connection.hasFreeStream)
        && !connections.placeless.contains(ObjectIdentifier(connection))
    }
    if let unused {
      state.origins[origin]?.placeless.insert(ObjectIdentifier(unused))
      return .retiring(unused)
    }
    return takePlaces(1, in: &state, of: origin) == 1 ? .free : nil
  }

  private func wait(_ id: Int, _ origin: Origin, fresh: Bool, until deadline: NIODeadline) async -> Grant {
    let timer = group.next().scheduleTask(deadline: deadline) { self.grant(.timedOut, to: id, of: origin) }
    defer { timer.cancel() }
    let granted = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (immediate, place) = state.withLock { state -> (Grant?, Place?) in
          if Task.isCancelled { return (.cancelled, nil) }
          if deadline <= .now() { return (.timedOut, nil) }
          // A connection that is given back after this number has risen is given to this request; one that was given
          // back before is found below.
          waiting.add(1, ordering: .sequentiallyConsistent)
          if let place = takePlace(in: &state, of: origin, fresh: fresh) {
            waiting.subtract(1, ordering: .sequentiallyConsistent)
            return (nil, place)
          }
          state.origins[origin, default: Connections()].waiters.append(
            Waiter(id: id, fresh: fresh, continuation: continuation))
          scheduleSweep(in: &state, of: origin)
          return (nil, nil)
        }
        if let granted = immediate ?? place?.taken() { continuation.resume(returning: granted) }
      }
    } onCancel: {
      grant(.cancelled, to: id, of: origin)
    }
    guard fresh, case .connection(let stream) = granted else { return granted }
    stream.close()
    return .permit
  }

  private func grant(_ grant: Grant, to id: Int, of origin: Origin) {
    let waiter = state.withLock { state -> Waiter? in
      guard let index = state.origins[origin]?.waiters.firstIndex(where: { $0.id == id }) else { return nil }
      return state.origins[origin]?.waiters.remove(at: index)
    }
    if let waiter { resume(CollectionOfOne(waiter), grant) }
  }

  // MARK: Places of connections that wait for their clients

  /// Takes the places of at most `count` connections that wait for slow clients, over HTTP/2 for those of some of their
  /// streams. As many connections as there are places may have lost theirs.
  ///
  /// - Returns: the number of free places now.
  private func takePlaces(_ count: Int, in state: inout State, of origin: Origin) -> Int {
    guard let connections = state.origins[origin] else { return 0 }
    let most = min(count, max(0, configuration.connectionsPerOrigin - connections.placeless.count))
    let (now, patience) = (NIODeadline.now(), configuration.clientPatience)
    let http1 = takeSlowPlaces(most, of: origin)
    let http2 = connections.http2.filter { connection in
      !connections.placeless.contains(ObjectIdentifier(connection))
        && connection.hasSlowStream(at: now, patience: patience)
    }.map { ObjectIdentifier($0) }
    let slow = http1 + http2.prefix(most - http1.count)
    state.origins[origin]?.placeless.formUnion(slow)
    return slow.count
  }

  private func scheduleSweep(in state: inout State, of origin: Origin) {
    guard state.origins[origin]?.isSweeping == false else { return }
    state.origins[origin]?.isSweeping = true
    _ = group.next().scheduleTask(in: configuration.clientPatience) { self.sweep(origin) }
  }

  /// Gives the places of connections that wait for slow clients to the requests that wait for a place.
  private func sweep(_ origin: Origin) {
    let granted = state.withLock { state -> [Waiter] in
      state.origins[origin]?.isSweeping = false
      let waiting = state.origins[origin]?.waiters.count ?? 0
      let count = takePlaces(waiting, in: &state, of: origin)
      let granted = Array((state.origins[origin]?.waiters ?? []).prefix(count))
      state.origins[origin]?.waiters.removeFirst(count)
      if count < waiting { scheduleSweep(in: &state, of: origin) }
      return granted
    }
    resume(granted, .permit)
  }
}
