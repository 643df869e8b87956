import HTTPCaching
import Logging
import NIOCore
import NIOPosix
import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// A proxy in front of a hand-written origin.
struct RunningProxy: Sendable {
  let origin: RawOrigin
  let upstream: NIOUpstream
  let server: ProxyServer
  let port: Int

  /// A client of the proxy.
  func connect() throws -> RawPeer { try RawPeer.connect(port) }

  /// A client of the proxy that has sent something.
  func connect(sending text: String) throws -> RawPeer {
    let client = try connect()
    client.send(text)
    return client
  }

  /// A client that has sent a request, the connection on which the origin gets it, and its head there.
  func open(_ request: String) async throws -> (client: RawPeer, peer: RawPeer, head: String) {
    let client = try connect(sending: request)
    let (peer, head) = try await origin.acceptRequest()
    return (client, peer, head)
  }

  /// A client over HTTP/2 that has sent a request on stream 1, its connection at the origin, and its head there.
  func openHTTP2(
    _ path: String = "/", method: String = "GET", _ fields: [(String, String)] = [], ends: Bool = true
  ) async throws -> (client: HTTP2Peer, peer: RawPeer, head: String) {
    let client = try HTTP2Peer(port)
    client.request(1, path, method: method, fields, ends: ends)
    let (peer, head) = try await origin.acceptRequest()
    return (client, peer, head)
  }

  /// The request as the origin gets it, and the response as the client gets it.
  func exchange(
    _ request: String, _ response: String = "HTTP/1.1 204 No Content\r\n\r\n"
  ) async throws -> (request: String, response: String) {
    let (client, peer, head) = try await open(request)
    peer.send(response)
    peer.finish()
    return (head, try await client.receiveHead())
  }

  /// Checks that a client's request comes to the origin on a new connection, and that it is answered.
  ///
  /// - Returns: the head that the origin gets.
  @discardableResult
  func expectAnswer(
    to client: RawPeer, _ request: String, at location: SourceLocation = #_sourceLocation
  ) async throws -> String {
    client.send(request)
    let (peer, head) = try await origin.acceptRequest()
    try await peer.answerNoContent(to: client, at: location)
    return head
  }

  /// The answer of the origin reaches a stream of an HTTP/2 client. The connection to the origin ends.
  @discardableResult
  func expectAnswer(
    to client: HTTP2Peer, _ stream: UInt32, _ path: String = "/",
    at location: SourceLocation = #_sourceLocation
  ) async throws -> String {
    client.request(stream, path)
    let (peer, head) = try await origin.acceptRequest()
    peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    #expect(try await client.response(stream).status == "204", sourceLocation: location)
    return head
  }
}

extension RawPeer {
  /// Answers as an origin with 204, and checks that a client gets it.
  func answerNoContent(to client: RawPeer, at location: SourceLocation = #_sourceLocation) async throws {
    send("HTTP/1.1 204 No Content\r\n\r\n")
    #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 204 "), sourceLocation: location)
  }
}

/// Runs a test with a proxy that ends with it.
func withProxy(
  basePath: String = "", forward: ForwardRules? = nil, upstream: NIOUpstream.Configuration = .init(),
  cache: HTTPCache? = nil, origin sharedOrigin: RawOrigin? = nil,
  configure: (inout ProxyServer.Configuration) -> Void = { _ in },
  _ body: (RunningProxy) async throws -> Void
) async throws {
  let origin = try sharedOrigin ?? RawOrigin()
  let group = MultiThreadedEventLoopGroup.singleton
  let mode: ProxyServer.Mode =
    forward.map { .forward($0) }
    ?? .reverse(Origin(isSecure: false, host: "127.0.0.1", port: origin.port), basePath: basePath)
  var configuration = ProxyServer.Configuration(host: "127.0.0.1", port: 0, mode: mode)
  configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  configure(&configuration)
  var upstream = upstream
  upstream.logger = configuration.logger
  let origins = try NIOUpstream(group: group, configuration: upstream)
  let server = try await ProxyServer.start(
    configuration, cache: cache ?? storelessCache(), upstream: origins, group: group)
  let proxy = RunningProxy(origin: origin, upstream: origins, server: server, port: server.port ?? 0)
  do {
    try await body(proxy)
  } catch {
    await server.shutDown(deadline: .zero)
    throw error
  }
  await server.shutDown(deadline: .zero)
}

/// Runs a test with a proxy whose clients may speak HTTP/2 without TLS.
func withHTTP2(
  cache: HTTPCache? = nil, configure: (inout ProxyServer.Configuration) -> Void = { _ in },
  _ body: (RunningProxy) async throws -> Void
) async throws {
  try await withProxy(
    cache: cache,
    configure: {
      $0.isHTTP2WithoutTLS = true
      configure(&$0)
    }, body)
}

extension ProxyServer.Mode {
  /// All requests go to one origin, below a path without a slash at its end.
  static func reverse(_ origin: Origin, basePath: String) -> ProxyServer.Mode {
    var route = GatewayRoute(to: OriginGroup(origin))
    route.basePath = basePath
    return .gateway([route])
  }

  /// All requests go to an origin with the certificate of the tests.
  static func reverse(toTLS port: Int) -> ProxyServer.Mode {
    .reverse(Origin(isSecure: true, host: "localhost", port: port), basePath: "")
  }
}

extension NIOUpstream.Configuration {
  /// The default configuration with changes.
  static func with(_ change: (inout NIOUpstream.Configuration) throws -> Void) rethrows
    -> NIOUpstream.Configuration
  {
    var configuration = NIOUpstream.Configuration()
    try change(&configuration)
    return configuration
  }

  /// A configuration that trusts the certificate of the tests.
  static func tls(offersHTTP2: Bool = false) throws -> NIOUpstream.Configuration {
    try with {
      $0.tls = try TestCertificate.client()
      $0.offersHTTP2 = offersHTTP2
    }
  }
}

extension ProxyServer.Configuration {
  /// Changes the routes of a gateway.
  mutating func changeRoutes(_ change: (inout [GatewayRoute]) -> Void) {
    guard case .gateway(var routes) = mode else { return }
    change(&routes)
    mode = .gateway(routes)
  }

  /// Adds a route to the same origin that has a limit of its own until the head of a response.
  mutating func addRoute(_ path: String, head limit: TimeAmount) {
    changeRoutes { routes in
      var route = routes[0]
      route.path = path
      route.silence.head = limit
      routes.insert(route, at: 0)
    }
  }

  /// Passes the client's `Host` on to the origin.
  mutating func preserveHost() {
    changeRoutes { routes in
      for index in routes.indices { routes[index].preservesHost = true }
    }
  }
}

/// The value of a field in a head, or nil.
func field(_ name: String, in head: String) -> String? {
  for line in head.split(separator: "\r\n").dropFirst() {
    guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name.lowercased() else {
      continue
    }
    return String(line[line.index(after: colon)...].drop { $0 == " " })
  }
  return nil
}
