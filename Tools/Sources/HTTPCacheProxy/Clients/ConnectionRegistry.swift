import HTTPTypes
import NIOCore
import Synchronization

/// Counts the connections and exchanges of clients from the moment a connection is accepted, and ends them.
final class ConnectionRegistry: Sendable {
  /// The highest numbers, each of connections and of exchanges.
  struct Limits: Sendable {
    /// The limit of all clients together.
    var all: Int
    /// The limit of one client.
    var ofClient: Int
    /// Whether clients on this machine have that limit.
    var includesLoopback: Bool
    /// The proxies in front of this one, whose connections are those of many clients.
    var unlimited: [AddressRange] = []
  }

  /// Whether a connection may be served.
  enum Admission: Sendable {
    /// It counts against the share of its client; nil if its client has no limit.
    case admitted(ClientShare?)
    /// Tell the client why not, then call `endRefusal`.
    case refused(Refusal)
    /// Too many refused connections are being answered: close this one without an answer.
    case ignored
  }

  private struct Entry {
    var connection: any RegisteredConnection
    let share: ClientShare?
  }

  /// A client with connections of its own, or with exchanges on those of trusted proxies.
  private struct Client {
    let share: ClientShare
    var connections = 0
    var held = 0
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var clients: [ClientAddress: Client] = [:]
    /// The highest number of connections since `takeHighestCount` was called.
    var highest = 0
    /// The number of refused connections that are being answered.
    var refused = 0
    var emptied: CheckedContinuation<Void, Never>?
  }

  /// Maximum number of refused connections that are answered at the same time.
  private static let refusedLimit = 64

  private let limits: Limits
  private let exchanges: BoundedCount
  private let state = Mutex(State())
  /// Not part of the state, because each request reads it, and connections of different event loops must not wait for
  /// one lock.
  private let draining = Atomic<Bool>(false)

  init(_ limits: Limits) {
    self.limits = limits
    exchanges = BoundedCount(limit: limits.all)
  }

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

  // MARK: Connections

  /// Counts a connection that was accepted.
  func admit(_ channel: any Channel) -> Admission {
    let client = limited(channel.remoteAddress.flatMap { IPAddress($0) })
    return state.withLock { state in
      let ofClient = client.flatMap { state.clients[$0]?.connections } ?? 0
      if let refusal = refusal(connections: state.entries.count, ofClient: ofClient) {
        guard state.refused < Self.refusedLimit else { return .ignored }
        state.refused += 1
        return .refused(refusal)
      }
      let share = client.map { client in
        change(client, in: &state) { $0.connections += 1 }
      }
      state.entries[ObjectIdentifier(channel)] = Entry(
        connection: ChannelConnection(channel, isHTTP2: false), share: share)
      state.highest = max(state.highest, state.entries.count)
      return .admitted(share)
    }
  }

  /// Changes what a client has, and forgets a client that has nothing.
  ///
  /// - Returns: its share.
  private func change(
    _ client: ClientAddress, in state: inout State, _ change: (inout Client) -> Void
  ) -> ClientShare {
    var known = state.clients[client] ?? Client(share: ClientShare(of: client, limit: limits.ofClient))
    change(&known)
    state.clients[client] = known.connections > 0 || known.held > 0 ? known : nil
    return known.share
  }

  /// The client of a connection, if its number is limited.
  private func limited(_ address: IPAddress?) -> ClientAddress? {
    guard let address, !limits.unlimited.contains(where: { $0.contains(address) }) else { return nil }
    let client = ClientAddress(address)
    return client.isLoopback && !limits.includesLoopback ? nil : client
  }

  private func refusal(connections: Int, ofClient: Int) -> Refusal? {
    if isDraining || connections >= limits.all {
      return Refusal(.serviceUnavailable, "this proxy has too many connections", closes: true)
    }
    guard ofClient >= limits.ofClient else { return nil }
    return Refusal(.tooManyRequests, "too many connections from this address", closes: true)
  }

  /// Notes what serves a connection, once its protocol is chosen.
  func serve(_ channel: any Channel, by connection: any RegisteredConnection) {
    state.withLock { $0.entries[ObjectIdentifier(channel)]?.connection = connection }
  }

  /// Notes that a refused connection was answered.
  func endRefusal() { state.withLock { $0.refused -= 1 } }

  /// Forgets a connection that is closed, unless a task serves it: the task calls `remove` after it has logged the last
  /// request.
  func closed(_ channel: any Channel) {
    let isServed = state.withLock { $0.entries[ObjectIdentifier(channel)]?.connection is ByteStream }
    if !isServed { remove(channel) }
  }

  /// Forgets a connection.
  func remove(_ channel: any Channel) {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let entry = state.entries.removeValue(forKey: ObjectIdentifier(channel)) else { return nil }
      if let client = entry.share?.client { _ = change(client, in: &state) { $0.connections -= 1 } }
      return state.entries.isEmpty ? state.emptied.take() : nil
    }?.resume()
  }

  // MARK: Exchanges

  /// Counts an exchange.
  ///
  /// - Parameter share: the share of its client; nil if the client has no limit.
  /// - Throws: `Refusal` if there are too many.
  private func beginExchange(of share: ClientShare?) throws(Refusal) {
    guard exchanges.add() else {
      throw Refusal(.serviceUnavailable, "this proxy has too many requests under way")
    }
    guard share?.exchanges.add() ?? true else {
      exchanges.subtract()
      throw Refusal(.tooManyRequests, "too many requests from this address are under way")
    }
  }

  /// Counts an exchange of the client that a request comes from: behind a trusted proxy, the one that the proxy names.
  ///
  /// - Parameter fields: the fields of the request.
  /// - Returns: the exchange, for `end`.
  /// - Throws: `Refusal` if there are too many.
  func beginExchange(of client: ClientSide, _ fields: HTTPFields) throws(Refusal) -> CountedExchange {
    guard client.isTrusted, let source = limited(client.source(of: fields)) else {
      try beginExchange(of: client.share)
      return CountedExchange(share: client.share, isHeld: false)
    }
    let share = state.withLock { change(source, in: &$0) { $0.held += 1 } }
    do throws(Refusal) {
      try beginExchange(of: share)
      return CountedExchange(share: share, isHeld: true)
    } catch {
      letGo(of: share)
      throw error
    }
  }

  /// Ends an exchange.
  func end(_ exchange: CountedExchange) {
    exchange.share?.exchanges.subtract()
    exchanges.subtract()
    if exchange.isHeld, let share = exchange.share { letGo(of: share) }
  }

  private func letGo(of share: ClientShare) {
    state.withLock { state in _ = change(share.client, in: &state) { $0.held -= 1 } }
  }

  // MARK: Ending

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

/// An exchange that the registry has counted.
struct CountedExchange: Sendable {
  let share: ClientShare?
  /// Whether the share is held for this exchange alone, because the client has no connection of its own.
  let isHeld: Bool
}

/// A client's connection, as the registry counts and ends it.
protocol RegisteredConnection: AnyObject, Sendable {
  /// Whether a request has begun and not ended.
  var isBusy: Bool { get }

  /// Ends the connection after all that was written.
  func closeWritten(within patience: TimeAmount) async

  /// Ends the connection at once, so that no cut response looks complete.
  func reset()
}

extension ByteStream: RegisteredConnection {}

/// The connection of a client that has not chosen a protocol yet, or that speaks HTTP/2: its streams are served each for
/// itself. Also a connection of the admin listener.
final class ChannelConnection: RegisteredConnection {
  private let channel: any Channel
  private let isHTTP2: Bool
  /// False with HTTP/2: the connection is told to end at once, and lets its streams finish by itself.
  let isBusy: Bool

  init(_ channel: any Channel, isHTTP2: Bool, isBusy: Bool = false) {
    self.channel = channel
    self.isHTTP2 = isHTTP2
    self.isBusy = isBusy
  }

  /// Closes the connection. With HTTP/2, tells the client that no more streams are served (GOAWAY); the connection closes
  /// after the last one.
  func closeWritten(within patience: TimeAmount) async {
    guard isHTTP2 else { return reset() }
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    try? await channel.closeFuture.get()
  }

  func reset() { channel.close(promise: nil) }
}
