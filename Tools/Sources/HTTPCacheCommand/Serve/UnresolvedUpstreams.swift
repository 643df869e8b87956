import HTTPCacheProxy
import NIOCore
import NIOPosix

/// The upstreams whose host names do not resolve. The server starts all the same: names of other machines may become
/// known after it.
enum UnresolvedUpstreams {
  /// Maximum number of messages about one name each.
  private static let mostMessages = 100
  /// How long all names may take together. A resolver without an answer takes tens of seconds for each.
  private static let patience = Duration.seconds(10)

  /// A message for each name.
  ///
  /// - Parameter lookups: asks the system unless given.
  static func messages(_ mode: ProxyServer.Mode, lookups: NameLookups? = nil) async -> [String] {
    guard case .gateway(let routes) = mode else { return [] }
    // One origin of each name.
    var origins: [String: Origin] = [:]
    for route in routes {
      for origin in route.group.addresses where IPAddress(origin.host) == nil {
        if let known = origins[origin.host], known.description <= origin.description { continue }
        origins[origin.host] = origin
      }
    }
    let lookups = lookups ?? NameLookups(resolves: resolves, patience: patience)
    let unresolved = await lookups.unresolved(origins.keys.sorted())
    let texts = unresolved.compactMap { origins[$0]?.description }.sorted()
    var messages = texts.prefix(mostMessages).map { origin in
      "httpcache: warning: the host name of \(origin) does not resolve; its requests get 502 until it does"
    }
    if texts.count > mostMessages {
      messages.append(
        "httpcache: warning: \(texts.count - mostMessages) more host names of upstreams do not resolve")
    }
    return messages
  }

  @Sendable private static func resolves(_ name: String) async -> Bool {
    let isKnown = try? await NIOThreadPool.singleton.runIfActive {
      (try? SocketAddress.makeAddressResolvingHost(name, port: 80)) != nil
    }
    return isKnown ?? true
  }
}
