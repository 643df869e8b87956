import ArgumentParser
import HTTPCacheProxy
import NIOCore

/// The options of `serve` for peers that are silent or gone.
struct SilenceOptions: ParsableArguments {
  /// The longest limit in seconds.
  static let longest = 86_400

  @Option(
    help: ArgumentHelp(
      """
      Seconds that an origin may be silent within a body; 0 is no limit. (default: 600, and no limit for event \
      streams, text/event-stream)
      """, valueName: "seconds"), transform: SecondsArgument.whole)
  var originSilence: Int64?

  @Option(
    help: ArgumentHelp(
      """
      Seconds that a client may be silent within the body of a request, or take nothing of a response. (default: 60)
      """, valueName: "seconds"), transform: SecondsArgument.whole)
  var clientSilence: Int64 = 60

  @Option(
    help: ArgumentHelp(
      """
      Seconds that both ends of a tunnel or of an upgraded connection may be silent; 0 is no limit, as long as both \
      confirm the keep-alives of TCP. (default: 0)
      """, valueName: "seconds"), transform: SecondsArgument.whole)
  var tunnelSilence: Int64 = 0

  @Option(
    help: ArgumentHelp(
      """
      Seconds after which a request is cancelled whose client has ended its side of the connection and got nothing \
      yet, unless other requests wait for the same response; 0 never cancels it. (default: 30)
      """, valueName: "seconds"), transform: SecondsArgument.whole)
  var clientGoneAfter: Int64 = 30

  func validate() throws {
    for (name, value, least) in [
      ("--origin-silence", originSilence ?? 0, 0), ("--client-silence", clientSilence, 1),
      ("--tunnel-silence", tunnelSilence, 0), ("--client-gone-after", clientGoneAfter, 0),
    ] {
      try Self.check(name, value, least: least)
    }
  }

  /// - Throws: `ValidationError` for a limit that is out of range.
  static func check(_ name: String, _ value: Int64, least: Int) throws {
    guard value >= least, value <= longest else {
      throw ValidationError("\(name) must be between \(least) and \(longest) seconds (got \(value)).")
    }
  }

  /// Sets the limits of origins.
  func apply(to configuration: inout NIOUpstream.Configuration) {
    guard let originSilence else { return }
    let limit = SilenceLimit(seconds: originSilence).time
    (configuration.bodyTimeout, configuration.eventStreamTimeout) = (limit, limit)
  }

  /// Sets the limits of clients and tunnels.
  func apply(to configuration: inout ProxyServer.Configuration) {
    configuration.bodyTimeout = .seconds(clientSilence)
    configuration.tunnelTimeout = SilenceLimit(seconds: tunnelSilence).time
    configuration.abandonedTimeout = SilenceLimit(seconds: clientGoneAfter).time
  }
}

extension SilenceLimit {
  /// The limit for a number of seconds, of which 0 is none.
  init(seconds: Int64) { self = seconds == 0 ? .unlimited : .after(.seconds(seconds)) }
}
