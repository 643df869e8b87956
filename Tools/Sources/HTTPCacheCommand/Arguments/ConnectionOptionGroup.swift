import ArgumentParser
import Foundation
import HTTPCacheProxy
import HTTPCaching

/// The options of connections to the origin, spelled as curl's.
struct ConnectionOptionGroup: ParsableArguments {
  @Option(
    name: .customLong("connect-timeout"), parsing: .unconditional,
    help: "Maximum seconds to open a connection. (default: 10)",
    transform: SecondsArgument.number)
  var connectTimeout: Double = 10

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      Seconds that an origin may be silent before the head of a response and within its body; 0 is no limit. \
      (default: 60 before the head, 600 in the body, and no limit for event streams, text/event-stream)
      """, valueName: "seconds"), transform: SecondsArgument.whole)
  var originSilence: Int64?

  @Option(help: "A PEM file of certificates to trust in place of the system's.")
  var cacert: String?

  @Flag(
    name: [.customShort("k"), .long],
    help: "Do not check certificates. The cache is then neither read nor written.")
  var insecure = false

  @Flag(name: .customLong("http1.1"), help: "Do not use HTTP/2.")
  var http1Only = false

  @Option(
    name: [.customShort("x", allowingJoined: true), .long],
    help: ArgumentHelp(
      "Use this proxy: [http://|socks5h://][user:password@]host[:1080]; empty for none. Default: "
        + "$http_proxy, $https_proxy, $all_proxy.", valueName: "proxy"))
  var proxy: String?

  @Option(
    name: [.customShort("U", allowingJoined: true), .customLong("proxy-user")],
    help: ArgumentHelp("User and password for the proxy (Basic).", valueName: "user:password"))
  var proxyUser: String?

  @Option(
    help: ArgumentHelp(
      "Hosts to reach without a proxy, separated by commas: example.com (and names below it), "
        + "example.com:8080, 10.0.0.0/8, * for all. Default: $no_proxy.", valueName: "hosts"))
  var noproxy: String?

  func validate() throws {
    guard connectTimeout > 0, connectTimeout <= 1e6 else {
      throw ValidationError(
        "--connect-timeout must be above 0 and at most 1000000 seconds (got \(connectTimeout))")
    }
    if let originSilence { try SilenceOptions.check("--origin-silence", originSilence, least: 0) }
    if let cacert, !FileManager.default.isReadableFile(atPath: cacert) {
      throw ValidationError("--cacert: cannot read \(cacert)")
    }
  }

  /// The policy of requests. Without a check of certificates, a response may come from any server.
  func usedPolicy(_ policy: PolicyArgument) -> CachePolicy {
    insecure && policy != .cacheOnly ? .bypass : policy.policy
  }

  /// A year: no limit.
  private static let noLimit = Duration.seconds(365 * 86_400)

  /// The configuration of the client from the options.
  ///
  /// - Parameter maxTime: the seconds that everything may take; an origin may take as long for the head.
  /// - Throws: `ValidationError` for a proxy that cannot be used.
  func clientOptions(maxTime: Double? = nil) throws -> OriginClient.Options {
    var options = OriginClient.Options()
    if let originSilence {
      options.headTimeout = originSilence == 0 ? Self.noLimit : .seconds(originSilence)
    } else if let maxTime {
      options.headTimeout = max(options.headTimeout, .seconds(maxTime))
    }
    options.connectTimeout = .seconds(connectTimeout)
    options.isHTTP1Only = http1Only
    options.trustRoots = cacert
    options.isInsecure = insecure
    options.silence = originSilence.map { SilenceLimit(seconds: $0) }
    options.proxies = try ProxySettings(
      proxy: proxy, user: proxyUser, noProxy: noproxy, environment: CommandEnvironment.current)
    return options
  }
}
