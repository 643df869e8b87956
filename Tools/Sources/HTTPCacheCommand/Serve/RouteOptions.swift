import ArgumentParser
import HTTPCacheProxy

/// The options of `serve` for its listener and its origins.
struct RouteOptions: ParsableArguments {
  /// The message for arguments that name no origin.
  static let noOrigin =
    "serve requires one of --upstream URL and --forward, or --config FILE with one of them or routes."

  @Option(
    help: ArgumentHelp(
      """
      Read options, routes and overrides from this file, YAML or JSON; options given here count instead. SIGHUP reads \
      it again.
      """, valueName: "file"))
  var config: String?

  @Flag(help: "Check --config and the files that it names, and end.")
  var check = false

  @Option(help: ArgumentHelp("The origin of all requests; it may have a path.", valueName: "url"))
  var upstream: String?

  @Flag(help: "Be a forward proxy for every origin.")
  var forward = false

  @Option(
    help: ArgumentHelp(
      "The address and port to listen on; with port 0 the system chooses one. (default: 127.0.0.1:8080)",
      valueName: "address"), transform: ListenAddress.parsed)
  var listen = ListenAddress(host: "127.0.0.1", port: 8080)

  @Flag(help: "Allow listening on addresses that other machines can reach.")
  var allowRemote = false

  @Option(
    help: ArgumentHelp(
      """
      Maximum connections of one client address, and of requests under way, whatever carries them: streams of \
      HTTP/2 and tunnels included. (default: 256, and no limit for this machine; addresses of --trust-forwarded have \
      none)
      """, valueName: "count"))
  var connectionsPerClient: Int?

  @Option(
    help: ArgumentHelp(
      """
      Maximum connections to one origin at a time; further requests to it wait for one, at most --timeout seconds.
      """, valueName: "count"))
  var connectionsPerOrigin = 1_024

  /// Whether other machines can reach the listener.
  var isRemote: Bool { !listen.isLoopback }

  func validate() throws {
    if check, config == nil { throw ValidationError("--check requires --config.") }
    if forward, upstream != nil { throw ValidationError("--upstream and --forward exclude each other.") }
    guard forward || upstream != nil || config != nil else {
      throw ValidationError(Self.noOrigin)
    }
    if let upstream {
      let shown = LogText.hidingCredentials(upstream)
      guard Origin.split(upstream) != nil else {
        throw ValidationError(
          "--upstream requires an http or https URL without user information (got '\(shown)').")
      }
      guard !upstream.contains("?"), !upstream.contains("#") else {
        throw ValidationError("--upstream requires a URL without query and fragment (got '\(shown)').")
      }
    }
    guard !isRemote || allowRemote else {
      throw ValidationError(
        "--listen \(listen) can be reached from other machines; --allow-remote allows that.")
    }
    if let connectionsPerClient, connectionsPerClient < 1 {
      throw ValidationError("--connections-per-client must be at least 1 (got \(connectionsPerClient)).")
    }
    guard connectionsPerOrigin > 0 else {
      throw ValidationError("--connections-per-origin must be at least 1 (got \(connectionsPerOrigin)).")
    }
  }
}
