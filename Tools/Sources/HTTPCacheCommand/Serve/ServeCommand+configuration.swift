import ArgumentParser
import HTTPCacheProxy
import HTTPCaching
import Logging
import NIOCore
import NIOSSL

extension ServeCommand {
  /// Where requests go, and the certificates, keys and tokens that the options name.
  ///
  /// - Throws: `StartFailure` with the line of the file.
  func modeAndFiles(_ file: ServeFile?) throws(StartFailure) -> (ProxyServer.Mode, ServeFiles) {
    do throws(StartFailure) {
      return (try serverMode(file), try ServeFiles(self))
    } catch {
      throw error.located(in: file)
    }
  }

  /// The settings of the server and of its connections to origins, and the files that they come from. Opens the log.
  ///
  /// - Throws: `ExitCode` after a message.
  func configurations(
    _ messages: LineWriter, _ file: ServeFile?
  ) throws -> (ProxyServer.Configuration, NIOUpstream.Configuration, ServeFiles) {
    do throws(StartFailure) {
      let (mode, files) = try modeAndFiles(file)
      let origins = try upstreamConfiguration()
      return (try serverConfiguration(messages, mode, files), origins, files)
    } catch {
      throw error.located(in: file).reported()
    }
  }

  /// The settings of the connections to origins.
  ///
  /// - Throws: `StartFailure` for certificates to trust that cannot be used.
  func upstreamConfiguration() throws(StartFailure) -> NIOUpstream.Configuration {
    var configuration = NIOUpstream.Configuration(
      connectTimeout: .seconds(timeout), headTimeout: .seconds(timeout),
      connectionsPerOrigin: route.connectionsPerOrigin)
    configuration.offersHTTP2 = tls.upstreamHttp2
    configuration.tls.restrict(onlyTLS13: tls.tlsMinVersion == .tls13)
    if let roots = try tls.originRoots() { configuration.tls.trustRoots = roots }
    if route.forward { configuration.addresses = forwardOptions.addressRules(isRemote: route.isRemote) }
    return configuration
  }

  private func serverConfiguration(
    _ messages: LineWriter, _ mode: ProxyServer.Mode, _ files: ServeFiles
  ) throws(StartFailure) -> ProxyServer.Configuration {
    let descriptors = DescriptorLimit.raise()
    let level: Logger.Level = verbose ? .debug : .notice
    let logger = Logger(label: "httpcache") { LineLogHandler(label: $0, writer: messages, level: level) }
    var configuration = ProxyServer.Configuration(
      host: route.listen.host, port: route.listen.port, mode: mode, tls: files.tls,
      accessLog: try log.open(), logger: logger)
    // Keep half of the descriptors for connections to origins and for body files.
    configuration.connectionLimit = min(configuration.connectionLimit, max(1, descriptors / 2))
    configuration.preparedAnswers = Int(clamping: preparedAnswers)
    configuration.isHTTP2 = tls.http2
    configuration.isHTTP2WithoutTLS = tls.h2c
    configuration.trustedForwarders = gatewayOptions.trustForwarded
    configuration.purgeRights = files.purging
    if let count = route.connectionsPerClient {
      configuration.connectionsPerClient = count
      configuration.limitsLoopback = true
    }
    return configuration
  }

  /// The share of `--memory` for answers as the client gets them.
  var preparedAnswers: Int64 { min(memory.bytes / 16, 16 << 20) }

  /// Where requests go.
  ///
  /// - Throws: `StartFailure` if options and file contradict each other, or name no origin.
  func serverMode(_ file: ServeFile?) throws(StartFailure) -> ProxyServer.Mode {
    let routes = file?.routes ?? ServeRoutes()
    guard !route.forward else {
      guard routes.isEmpty else { throw StartFailure("\(file?.path ?? ""): routes do not go with forward") }
      return .forward(forwardOptions.rules(isRemote: route.isRemote))
    }
    var last = route.upstream.flatMap { ServeRoutes.route(to: $0) }
    last?.preservesHost = gatewayOptions.preserveHost
    let all = routes.all(default: last)
    guard !all.isEmpty else {
      throw StartFailure("\(file?.path ?? ""): has neither upstream, routes nor forward")
    }
    return .gateway(all)
  }
}
