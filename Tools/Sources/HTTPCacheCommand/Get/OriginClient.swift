import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCacheProxy
import HTTPCaching
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The HTTP client of a command that fetches.
enum OriginClient {
  /// The settings of a client.
  struct Options: Sendable {
    /// Maximum time to open a connection.
    var connectTimeout: Duration = .seconds(10)
    /// Whether to use HTTP/1.1 only.
    var isHTTP1Only = false
    /// A PEM file of certificates to trust instead of the system's.
    var trustRoots: String?
    /// Whether to accept any certificate.
    var isInsecure = false
    /// The proxies on the way.
    var proxies = ProxySettings()
  }

  /// Maximum time to wait for the next bytes of a body.
  private static let idleTimeout: Duration = .seconds(60)

  /// Runs `body` with clients of its own and closes them afterwards.
  static func withUpstream<Result>(
    _ options: Options = Options(), _ body: (any Upstream) async throws -> Result
  ) async throws -> Result {
    let direct = client(options, proxy: nil)
    let https = options.proxies.https.map { client(options, proxy: $0) }
    let socks = options.proxies.http.flatMap { $0.kind == .socks ? client(options, proxy: $0) : nil }
    let http = try options.proxies.http.flatMap { $0.kind == .http ? try httpProxy($0, options) : nil }
    // Connections are opened when they are used.
    let http1 = options.isHTTP1Only ? nil : Self.http1(options, proxy: options.proxies.https)
    let clients = [direct, https, socks, http1].compactMap { $0 }
    func upstream(_ client: HTTPClient) -> any Upstream {
      AsyncHTTPClientUpstream(client: client, idleTimeout: idleTimeout)
    }
    func shutDown() async throws {
      http?.shutDown()
      for client in clients { try await client.shutdown() }
    }
    func secure(_ client: HTTPClient) -> any Upstream {
      http1.map { HTTP1Retry(base: upstream(client), http1: upstream($0)) as any Upstream }
        ?? upstream(client)
    }
    let routed = LocationRepair(
      base: RoutedUpstream(
        settings: options.proxies, direct: options.proxies.https == nil ? secure(direct) : upstream(direct),
        http: http ?? upstream(socks ?? direct), https: secure(https ?? direct)))
    do {
      let result = try await body(routed)
      try await shutDown()
      return result
    } catch {
      // Report the error of `body`. Connections that do not close cleanly end with the process.
      try? await shutDown()
      throw error
    }
  }

  /// AsyncHTTPClient asks every HTTP proxy for a tunnel (CONNECT), which many refuse for port 80. So requests for
  /// http URLs go to the proxy in absolute form (RFC 9112 §3.2.2), as curl sends them.
  private static func httpProxy(_ proxy: ProxyAddress, _ options: Options) throws -> NIOUpstream {
    var configuration = NIOUpstream.Configuration(connectTimeout: TimeAmount(options.connectTimeout))
    (configuration.bodyTimeout, configuration.eventStreamTimeout) = (
      TimeAmount(idleTimeout), TimeAmount(idleTimeout)
    )
    configuration.proxy = NIOUpstream.Proxy(
      origin: Origin(isSecure: false, host: proxy.host, port: proxy.port),
      authorization: proxy.credentials?.basic)
    return try NIOUpstream(group: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
  }

  /// Adds a handler before the codec of a connection over HTTP/1.1.
  private static func addLeniency(to channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
    try pipeline.addHandler(LenientResponseHandler(), position: .before(encoder))
  }

  private static func http1(_ options: Options, proxy: ProxyAddress?) -> HTTPClient {
    var options = options
    options.isHTTP1Only = true
    return client(options, proxy: proxy)
  }

  private static func client(_ options: Options, proxy: ProxyAddress?) -> HTTPClient {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.decompression = .disabled
    configuration.timeout = .init(connect: TimeAmount(options.connectTimeout), read: nil)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = options.isHTTP1Only ? .http1Only : .automatic
    // The option of a connection is set here, because AsyncHTTPClient has no other place for it. Each piece of a
    // body takes several changes of threads, so pieces grow up to a block of the store.
    configuration.http1_1ConnectionDebugInitializer = { channel in
      channel.setOption(
        .recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(minimum: 1 << 10, initial: 1 << 14, maximum: 1 << 18)
      ).flatMap { channel.eventLoop.submit { try addLeniency(to: channel) } }
    }
    configuration.failInvalidStatus()
    configuration.failConnectionErrors()
    configuration.keepBytesOfBrokenConnections()
    if options.trustRoots != nil || options.isInsecure {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.restrict()
      if let path = options.trustRoots { tls.trustRoots = .file(path) }
      if options.isInsecure { tls.certificateVerification = .none }
      configuration.tlsConfiguration = tls
    }
    switch proxy?.kind {
    case .http?:
      configuration.proxy = .server(
        host: proxy?.host ?? "", port: proxy?.port ?? 0,
        authorization: proxy?.credentials.map { .basic(username: $0.user, password: $0.password) })
    case .socks?:
      configuration.proxy = .socksServer(host: proxy?.host ?? "", port: proxy?.port ?? 0)
    case nil: break
    }
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }
}
