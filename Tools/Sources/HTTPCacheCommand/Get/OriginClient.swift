import AsyncHTTPClient
import HTTPCacheAsyncHTTPClient
import HTTPCacheProxy
import HTTPCaching
import NIOCore
import NIOPosix
import NIOSSL

/// The HTTP client of a command that fetches.
enum OriginClient {
  /// The settings of a client.
  struct Options: Sendable {
    /// Maximum time to open a connection.
    var connectTimeout: Duration = .seconds(10)
    /// The share of this time that a connection over HTTP/2 or HTTP/1.1 has; the rest is for one over HTTP/1.1 alone.
    var shareOfFirstTry = 0.75
    /// Whether to use HTTP/1.1 only.
    var isHTTP1Only = false
    /// A PEM file of certificates to trust instead of the system's.
    var trustRoots: String?
    /// Whether to accept any certificate.
    var isInsecure = false
    /// The proxies on the way.
    var proxies = ProxySettings()
    /// Maximum time until the head of a response.
    var headTimeout: Duration = .seconds(60)
    /// How long an origin may be silent within a body; nil is as for the origins of `serve`.
    var silence: SilenceLimit?

    /// These settings for HTTP/2 or HTTP/1.1, with the first part of the time to open a connection.
    var ofFirstTry: Options {
      var options = self
      if !isHTTP1Only { options.connectTimeout = connectTimeout * shareOfFirstTry }
      return options
    }

    /// These settings for HTTP/1.1 alone, with the last part of the time to open a connection: an origin that agrees to
    /// HTTP/2 and then says nothing takes the first one (`HTTP1Retry`).
    var ofSecondTry: Options {
      var options = self
      options.isHTTP1Only = true
      options.connectTimeout = connectTimeout * (1 - shareOfFirstTry)
      return options
    }
  }

  /// Maximum number of connections over HTTP/1.1 to a host: as many as `get` has requests at once, with the largest
  /// `--jobs` and `--segments`. A request never waits for a connection: AsyncHTTPClient 1.37 would give it one that
  /// just broke (`keepBytesOfBrokenConnections`).
  private static let connectionLimit = 256 * 16
  /// Maximum time to wait for connections to close.
  private static let shutDownLimit: Duration = .seconds(2)

  /// Runs `body` with clients of its own and closes them afterwards.
  static func withUpstream<Result>(
    _ options: Options = Options(), _ body: (any Upstream) async throws -> Result
  ) async throws -> Result {
    let direct = client(options.ofFirstTry, proxy: nil)
    let https = options.proxies.https.map { client(options.ofFirstTry, proxy: $0) }
    let socks = options.proxies.http.flatMap { $0.kind == .socks ? client(options, proxy: $0) : nil }
    let http = try options.proxies.http.flatMap { $0.kind == .http ? try httpProxy($0, options) : nil }
    // Connections are opened when they are used.
    let http1 = options.isHTTP1Only ? nil : client(options.ofSecondTry, proxy: nil)
    let httpsHTTP1 =
      options.isHTTP1Only ? nil : options.proxies.https.map { client(options.ofSecondTry, proxy: $0) }
    let clients = [direct, https, socks, http1, httpsHTTP1].compactMap { $0 }
    let limits = configuration(options)
    func upstream(_ client: HTTPClient) -> any Upstream {
      AsyncHTTPClientUpstream(
        client: client, headTimeout: options.headTimeout,
        idleTimeout: limits.bodyTimeout.map { Duration($0) },
        eventStreamTimeout: limits.eventStreamTimeout.map { Duration($0) })
    }
    func retrying(_ client: HTTPClient, _ http1: HTTPClient?) -> any Upstream {
      guard let http1 else { return upstream(client) }
      return HTTP1Retry(base: upstream(client), http1: upstream(http1))
    }
    let directUpstream = OctetPathUpstream(base: retrying(direct, http1)) { try nioUpstream(options) }
    let routed = LocationRepair(
      base: RoutedUpstream(
        settings: options.proxies, direct: directUpstream,
        http: http ?? socks.map(upstream) ?? directUpstream,
        https: https.map { retrying($0, httpsHTTP1) } ?? directUpstream))
    do {
      let result = try await body(routed)
      await shutDown(clients, http)
      return result
    } catch {
      await shutDown(clients, http)
      throw error
    }
  }

  /// Closes the connections, and waits until they are closed, but no longer than `shutDownLimit`: an origin that agrees to
  /// HTTP/2 and never sends its SETTINGS would keep AsyncHTTPClient waiting for ever. Connections that do not close in
  /// time end with the process.
  private static func shutDown(_ clients: [HTTPClient], _ proxy: NIOUpstream?) async {
    proxy?.shutDown()
    let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
    Task {
      for client in clients { try? await client.shutdown() }
      continuation.finish()
    }
    let timer = Task {
      try await Task.sleep(for: shutDownLimit)
      continuation.finish()
    }
    for await _ in ends {}
    timer.cancel()
  }

  /// AsyncHTTPClient asks every HTTP proxy for a tunnel (CONNECT), which many refuse for port 80. So requests for
  /// http URLs go to the proxy in absolute form (RFC 9112 §3.2.2), as curl sends them.
  private static func httpProxy(_ proxy: ProxyAddress, _ options: Options) throws -> NIOUpstream {
    try nioUpstream(
      options,
      proxy: NIOUpstream.Proxy(
        origin: Origin(isSecure: false, host: proxy.host, port: proxy.port),
        authorization: proxy.credentials?.basic))
  }

  private static func nioUpstream(
    _ options: Options, proxy: NIOUpstream.Proxy? = nil
  ) throws -> NIOUpstream {
    var configuration = configuration(options)
    configuration.proxy = proxy
    return try NIOUpstream(group: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
  }

  /// The settings of connections without AsyncHTTPClient. Its connections have the same limits of silence and of heads.
  static func configuration(_ options: Options) -> NIOUpstream.Configuration {
    var configuration = NIOUpstream.Configuration()
    configuration.connectTimeout = TimeAmount(options.connectTimeout)
    configuration.headTimeout = TimeAmount(options.headTimeout)
    if let silence = options.silence {
      (configuration.bodyTimeout, configuration.eventStreamTimeout) = (silence.time, silence.time)
    }
    configuration.limits = LenientResponseHandler.limits
    configuration.isLenient = true
    configuration.offersHTTP2 = !options.isHTTP1Only
    if let tls = tls(options) { configuration.tls = tls }
    return configuration
  }

  /// The TLS settings that differ from the client's; nil if there are none.
  private static func tls(_ options: Options) -> TLSConfiguration? {
    guard options.trustRoots != nil || options.isInsecure else { return nil }
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.restrict()
    if let path = options.trustRoots { tls.trustRoots = .file(path) }
    if options.isInsecure { tls.certificateVerification = .none }
    return tls
  }

  private static func client(_ options: Options, proxy: ProxyAddress?) -> HTTPClient {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.decompression = .disabled
    configuration.timeout = .init(connect: TimeAmount(options.connectTimeout), read: nil)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionLimit
    configuration.httpVersion = options.isHTTP1Only ? .http1Only : .automatic
    // The option of a connection is set here, because AsyncHTTPClient has no other place for it. Each piece of a
    // body takes several changes of threads, so pieces grow up to a block of the store.
    configuration.http1_1ConnectionDebugInitializer = { channel in
      channel.setOption(
        .recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(minimum: 1 << 10, initial: 1 << 14, maximum: 1 << 18)
      ).flatMap {
        channel.eventLoop.submit { try LenientResponseHandler.add(to: channel.pipeline.syncOperations) }
      }
    }
    configuration.failInvalidStatus()
    configuration.failConnectionErrors()
    configuration.keepBytesOfBrokenConnections()
    if let tls = tls(options) { configuration.tlsConfiguration = tls }
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
