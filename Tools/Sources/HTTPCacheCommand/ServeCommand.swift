public import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCaching
import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// `httpcache serve`: a caching proxy.
public struct ServeCommand: AsyncParsableCommand {
  /// The name and what help says.
  public static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve through the cache: in front of one origin, or as a forward proxy.",
    discussion: """
      With --upstream, every request goes to that origin. With --forward, clients name the origin
      (http_proxy=http://127.0.0.1:8080); https then passes through tunnels and is not cached.

        httpcache serve --upstream https://example.com
        httpcache serve --forward --listen 127.0.0.1:3128 --private
      """)

  @Option(help: "Where to listen; port 0 lets the system choose.")
  var listen = ListenAddress(host: "127.0.0.1", port: 8080)

  @Option(help: ArgumentHelp("The origin to stand in front of; it may have a path.", valueName: "url"))
  var upstream: String?

  @Flag(help: "Be a forward proxy for http:// requests.")
  var forward = false

  @Flag(help: "Obey the rules of a shared cache (default), or of a private one.")
  var mode: Mode = .shared

  @Flag(help: "Never store responses with Set-Cookie; without, a shared cache stores those with a lifetime.")
  var refuseSetCookie = false

  @Option(help: "Bytes of the memory tier.")
  var memory = ByteSize(bytes: 32 << 20)

  @Option(help: "Bytes of the disk tier; 0 is memory only.")
  var disk = ByteSize(bytes: 1 << 30)

  @Option(help: "The longest body to store: bytes such as 64M, or a share of each tier such as 10%.")
  var largestEntry = LargestEntryArgument(.share(0.5))

  @Option(
    name: .customLong("min-free"), help: "Bytes to leave free on the disk; 0 takes no care of it.")
  var minimumFree = ByteSize(bytes: DiskStore.defaultMinimumFreeSpace)

  @Option(help: "The directory of the disk tier (default: the user's caches).")
  var dir: String?

  @Flag(help: "Allow to listen beyond this machine.")
  var allowRemote = false

  @Option(help: ArgumentHelp("A host that --forward may ask: name, *.domain or *.", valueName: "host"))
  var allow: [String] = []

  @Option(help: "A port that CONNECT may tunnel to (default: 443).")
  var connectPort: [Int] = []

  @Option(help: "How requests are logged on standard output: plain, json or none.")
  var accessLog: AccessLog.Format = .plain

  @Option(help: ArgumentHelp("Certificate chain to listen with TLS.", valueName: "pem"))
  var tlsCertificate: String?

  @Option(help: ArgumentHelp("Private key to listen with TLS.", valueName: "pem"))
  var tlsKey: String?

  @Option(help: ArgumentHelp("Certificates to trust in origins, instead of the system's.", valueName: "pem"))
  var upstreamCA: String?

  @Option(
    help: "Seconds to wait for a connection to an origin, and for a response's head once the request is sent."
  )
  var timeout: Int64 = 60

  @Option(
    help: ArgumentHelp(
      "The most connections of one client address at a time, tunnels included (default: 256, and no limit for this machine).",
      valueName: "count"))
  var connectionsPerClient: Int?

  @Option(help: "Seconds that requests may still take after SIGTERM or SIGINT.")
  var grace: Int64 = 10

  @OptionGroup var encryptionKey: EncryptionKeyOption

  @Flag(name: .shortAndLong, help: "Say on standard error what the cache does.")
  var verbose = false

  /// The rules to obey.
  enum Mode: String, EnumerableFlag {
    case shared
    case `private`
  }

  /// Makes the command.
  public init() {}

  /// Checks what the options say together.
  ///
  /// - Throws: `ValidationError`.
  public func validate() throws {
    guard forward != (upstream != nil) else {
      throw ValidationError("Give either --upstream URL or --forward.")
    }
    if let upstream, Origin.split(upstream) == nil {
      throw ValidationError("--upstream wants an http or https URL without a user, not '\(upstream)'.")
    }
    if upstream?.contains("?") == true || upstream?.contains("#") == true {
      throw ValidationError("--upstream wants a URL without query and fragment.")
    }
    guard listen.isLoopback || allowRemote else {
      throw ValidationError("\(listen) can be reached from other machines; say --allow-remote if it should.")
    }
    if forward, !listen.isLoopback, allow.isEmpty {
      throw ValidationError("A forward proxy that others can reach wants --allow HOST.")
    }
    guard (tlsCertificate == nil) == (tlsKey == nil) else {
      throw ValidationError("--tls-certificate and --tls-key go together.")
    }
    if let connectionsPerClient, connectionsPerClient < 1 {
      throw ValidationError("--connections-per-client must be at least 1 (got \(connectionsPerClient)).")
    }
    guard timeout > 0, grace >= 0, connectPort.allSatisfy({ (1...65535).contains($0) }) else {
      throw ValidationError("A time or a port is out of range.")
    }
  }

  /// Serves until SIGTERM or SIGINT.
  public func run() async throws {
    let signals = TerminationSignals.stream()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    let cache: HTTPCache
    let configuration = try cacheConfiguration()
    do throws(CacheError) { cache = try HTTPCache.open(configuration) } catch {
      throw ExitStatus.reporting(error)
    }
    let origins = try NIOUpstream(group: group, configuration: upstreamConfiguration())
    let server = try await ProxyServer.start(
      try serverConfiguration(), cache: cache, upstream: origins, group: group)
    let bound = ListenAddress(host: listen.host, port: server.port ?? listen.port)
    Self.report("listening on \(tlsCertificate == nil ? "http" : "https")://\(bound)")
    let keeping = Task {
      // So that others see the counters of a server that runs for months.
      while !Task.isCancelled {
        try await cache.configuration.clock.sleep(for: .seconds(10))
        await cache.flush()
        FreeMemory.giveBack()
      }
    }
    for await _ in signals { break }
    keeping.cancel()
    Self.report("shutting down")
    let impatient = Task {
      for await _ in TerminationSignals.stream() { Foundation.exit(130) }
    }
    await server.shutDown(deadline: .seconds(grace))
    impatient.cancel()
    try await group.shutdownGracefully()
  }

  private static func report(_ text: String) {
    FileHandle.standardError.write(Data("httpcache: \(text)\n".utf8))
  }

  private func cacheConfiguration() throws -> HTTPCache.Configuration {
    var rules = CacheRules(mode: mode == .shared ? .shared : .private)
    rules.refusesSetCookie = refuseSetCookie
    if mode == .shared { rules.targetedFields = ["CDN-Cache-Control"] }
    let place =
      dir
      ?? CacheLocation.defaultDirectory(
        mode: rules.mode, environment: ProcessInfo.processInfo.environment)
    return HTTPCache.Configuration(
      directory: disk.bytes > 0 ? place : nil, memoryCapacity: memory.bytes,
      diskCapacity: disk.bytes, largestEntry: largestEntry.limit,
      minimumFreeDiskSpace: minimumFree.bytes, rules: rules,
      cacheStatusName: "httpcache", encryption: try encryptionKey.encryption(),
      observer: verbose
        ? PrintingObserver() : StoreFailureObserver(clock: SystemClock()) { Self.report($0) })
  }

  private func upstreamConfiguration() -> NIOUpstream.Configuration {
    var configuration = NIOUpstream.Configuration(
      connectTimeout: .seconds(timeout), headTimeout: .seconds(timeout))
    if let upstreamCA { configuration.tls.trustRoots = .file(upstreamCA) }
    return configuration
  }

  private func serverConfiguration() throws -> ProxyServer.Configuration {
    var logger = Logger(label: "httpcache", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = verbose ? .debug : .warning
    var configuration = ProxyServer.Configuration(
      host: listen.host, port: listen.port, mode: try serverMode(), tls: try listenerTLS(),
      accessLog: HTTPCacheProxy.AccessLog(accessLog), logger: logger)
    if let connectionsPerClient {
      configuration.connectionsPerClient = connectionsPerClient
      configuration.limitsLoopback = true
    }
    return configuration
  }

  private func serverMode() throws -> ProxyServer.Mode {
    guard let upstream else {
      return .forward(
        ForwardRules(
          allowedHosts: allow.isEmpty ? nil : allow,
          connectPorts: connectPort.isEmpty ? [443] : Set(connectPort)))
    }
    guard let (origin, path) = Origin.split(upstream) else {
      throw ValidationError("--upstream wants an http or https URL, not '\(upstream)'.")
    }
    return .reverse(origin, basePath: path.hasSuffix("/") ? String(path.dropLast()) : path)
  }

  private func listenerTLS() throws -> TLSConfiguration? {
    guard let tlsCertificate, let tlsKey else { return nil }
    let chain = try NIOSSLCertificate.fromPEMFile(tlsCertificate)
    let key = try NIOSSLPrivateKey(file: tlsKey, format: .pem)
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    tls.applicationProtocols = ["http/1.1"]
    return tls
  }
}

extension AccessLog.Format: ExpressibleByArgument {}
