import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching

/// How a server of a directory decides.
struct ServedDirectory {
  /// The rules of the server.
  let rules: CacheRules
  /// Where the server sends requests; empty for a forward proxy.
  let routes: [GatewayRoute]
  /// The address that the server listens on; nil if it is unknown.
  let address: ListenAddress?
  /// Whether the server runs.
  let isLive: Bool
  /// The file that cannot be read, so that rules and routes are unknown; nil if they are known.
  let unreadFile: String?

  /// A directory that no server has used.
  static let unserved = ServedDirectory(rules: CacheRules(), routes: [])

  init(
    rules: CacheRules, routes: [GatewayRoute], address: ListenAddress? = nil, isLive: Bool = true,
    unreadFile: String? = nil
  ) {
    self.rules = rules
    self.routes = routes
    self.address = address
    self.isLive = isLive
    self.unreadFile = unreadFile
  }

  /// Reads the configuration file that a server has noted, and reports if note or file cannot be read.
  ///
  /// - Parameter directory: the directory of the cache, for a message.
  init(_ note: FoundServeNote, in directory: String) {
    guard let record = note.record else {
      Console.report(
        "httpcache: the rules of a server in \(directory) are unknown: \(note.path) cannot be read")
      self.init(rules: CacheRules(), routes: [], isLive: note.isLive, unreadFile: note.path)
      return
    }
    let address = ListenAddress(argument: record.listen)
    do throws(ConfigFailure) {
      let file = try record.file.map { (file) throws(ConfigFailure) in try file.read() }
      self.init(
        rules: record.rules(file), routes: record.gateway?.routes(file) ?? [], address: address,
        isLive: note.isLive)
    } catch {
      Console.report("httpcache: the rules of the server in \(directory) are unknown: \(error)")
      self.init(
        rules: record.rules(nil), routes: [], address: address, isLive: note.isLive,
        unreadFile: record.file?.path ?? note.path)
    }
  }

  /// Whether a URL has the address of the server as its host and port.
  func hasAddress(of url: TargetURL) -> Bool {
    address?.port == url.port && address?.host.lowercased() == url.host.lowercased()
  }

  /// Whether a client of this machine that asks for a URL connects to the server, which may be by another name of this
  /// machine.
  func isListening(at url: TargetURL) -> Bool {
    guard let address, address.port == url.port else { return false }
    return hasAddress(of: url)
      || (address.isEveryAddress || address.isLoopback)
        && ListenAddress(host: url.host, port: url.port).isLoopback
  }

  /// Whether a client that asks for a URL may connect to the server: the hosts of a server on every address, and the
  /// address of a server whose note cannot be read, are unknown.
  func mayListen(at url: TargetURL) -> Bool {
    guard let address else { return true }
    return isListening(at: url) || address.isEveryAddress && address.port == url.port
  }

  /// Whether the server asks the origin of a target.
  func asksOrigin(of target: String) -> Bool {
    guard let (origin, _) = Origin.split(target) else { return false }
    return routes.contains { $0.asks(origin) }
  }

  /// Whether the server answers a URL of its clients with 404, because no route serves the URL.
  func hasNoRoute(for url: TargetURL) -> Bool {
    StoredPlace.hasNoRoute(scheme: url.scheme, authority: url.authority, path: url.path, routes: routes)
  }

  /// Where responses to a URL of the server's clients are stored; nil if the server is no gateway, serves no such URL,
  /// or the URL is one of its origins.
  func place(of url: TargetURL) -> StoredPlace? {
    StoredPlace(scheme: url.scheme, authority: url.authority, path: url.path, routes: routes)
  }

  /// Whether a URL has the address of the server, or the host of a route. A route for every host does not count.
  func hasHost(of url: TargetURL) -> Bool {
    isListening(at: url)
      || routes.contains { $0.host != nil && GatewayRoute.isHost(url.host.lowercased(), of: $0.host) }
  }

  /// The prefixes under which responses to URLs of the server's clients are stored that begin with a URL.
  func prefixes(for url: TargetURL) -> [String] {
    StoredPlace.prefixes(of: url.path, in: routes) { path in
      (try? url.with(path: path)).flatMap { place(of: $0)?.target }
    }
  }

  /// The targets of the server's route for a URL, as it was given and percent-encoded; empty for a URL of an origin.
  func placeTargets(of url: TargetURL) -> [String] {
    let targets = [url, url.asGiven].compactMap { url in url.flatMap { place(of: $0)?.target } }
    return targets.count == 2 && targets[0] == targets[1] ? [targets[0]] : targets
  }

  /// The targets of the keys under which the server stores responses to targets.
  func keys(of targets: [String]) -> [String] { targets.flatMap { rules.keyTargets(of: $0) ?? [$0] } }

  /// The origins under which responses to URLs of an origin's clients are stored.
  func origins(for url: TargetURL) -> [String] {
    let places = routes.compactMap { route in (try? url.with(path: route.path)).flatMap { place(of: $0) } }
    guard !places.isEmpty else { return [] }
    // A route that preserves `Host` stores under the client's host, with the scheme of its upstream.
    let origins = places.compactMap { TargetURI.origin(of: $0.target) }
    return Set(origins + routes.map { "\($0.group.origin)" }).sorted()
  }
}
