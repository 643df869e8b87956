import HTTPCaching
import NIOCore
import NIOSSL
import Synchronization

/// The objects that the connections of a server share. A class, because a copy of its properties for each request
/// would take longer than the rest of a hit.
final class ProxyContext: Sendable {
  let configuration: ProxyServer.Configuration
  let cache: HTTPCache
  let upstream: NIOUpstream
  /// Where requests go; those for an upgrade to another protocol, and tunnels, go to `upstream`.
  let exchanges: any Upstream
  let via: ViaField
  let registry: ConnectionRegistry
  let traffic: Traffic
  let feed = RequestFeed()
  private let currentTLS = Mutex<NIOSSLContext?>(nil)
  private let currentMode: Mutex<ProxyServer.Mode>
  private let prepared: [ObjectIdentifier: NIOLoopBoundBox<PreparedAnswers>]
  private let turns: [ObjectIdentifier: LoopTurns]

  /// - Parameters:
  ///   - exchanges: where requests go that ask for no upgrade; nil is `upstream`.
  ///   - loops: the event loops of the connections.
  init(
    configuration: ProxyServer.Configuration, cache: HTTPCache, upstream: NIOUpstream,
    exchanges: (any Upstream)?, loops: [any EventLoop]
  ) {
    self.configuration = configuration
    registry = ConnectionRegistry(
      ConnectionRegistry.Limits(
        all: configuration.connectionLimit, ofClient: configuration.connectionsPerClient,
        includesLoopback: configuration.limitsLoopback, unlimited: configuration.trustedForwarders))
    currentMode = Mutex(configuration.mode)
    self.cache = cache
    self.upstream = upstream
    self.exchanges = exchanges ?? upstream
    via = ViaField(name: configuration.name)
    traffic = Traffic(loops: loops)
    let capacity = configuration.preparedAnswers / max(1, loops.count)
    prepared = Dictionary(
      loops.map { loop in
        let answers = PreparedAnswers(capacity: capacity, limits: configuration.limits)
        return (
          ObjectIdentifier(loop), NIOLoopBoundBox.makeBoxSendingValue(answers, eventLoop: loop)
        )
      }, uniquingKeysWith: { first, _ in first })
    turns = Dictionary(
      loops.map { (ObjectIdentifier($0), LoopTurns(loop: $0)) }, uniquingKeysWith: { first, _ in first })
  }

  /// Where requests go from now on.
  var mode: ProxyServer.Mode {
    get { currentMode.withLock { $0 } }
    set { currentMode.withLock { $0 = newValue } }
  }

  /// The certificates of new connections; nil without TLS.
  var tls: NIOSSLContext? { currentTLS.withLock { $0 } }

  /// - Throws: NIOSSL's error if the configuration is invalid.
  func setTLS(_ configuration: TLSConfiguration?) throws {
    var configuration = configuration
    if self.configuration.isHTTP2 { configuration?.applicationProtocols = ClientPipeline.protocols }
    configuration?.restrict()
    configuration?.shutdownTimeout = Connector.closePatience
    let new = try configuration.map { try NIOSSLContext(configuration: $0) }
    currentTLS.withLock { $0 = new }
  }

  /// The prepared answers of the current event loop; nil if there is no space for them.
  func answers(of loop: any EventLoop) -> PreparedAnswers? {
    guard configuration.preparedAnswers > 0 else { return nil }
    return prepared[ObjectIdentifier(loop)]?.value
  }

  /// The turns of an event loop; nil if it is none of the server's.
  func turns(of loop: any EventLoop) -> LoopTurns? { turns[ObjectIdentifier(loop)] }
}
