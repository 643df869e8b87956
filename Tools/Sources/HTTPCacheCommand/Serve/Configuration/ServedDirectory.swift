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
  /// The address that the server listens on; nil for the server of this process.
  let address: ListenAddress?

  /// A directory that no server has used.
  static let unserved = ServedDirectory(rules: CacheRules(), routes: [])

  init(rules: CacheRules, routes: [GatewayRoute], address: ListenAddress? = nil) {
    self.rules = rules
    self.routes = routes
    self.address = address
  }

  /// Reads the configuration file that a server has noted.
  ///
  /// - Parameter directory: the directory of the cache, for a message.
  /// - Returns: nil, after a message, if the file cannot be read.
  init?(_ record: ServeRecord, in directory: String) {
    do throws(ConfigFailure) {
      let file = try record.file.map { (file) throws(ConfigFailure) in try file.read() }
      rules = record.rules(file)
      routes = record.gateway?.routes(file) ?? []
      address = ListenAddress(argument: record.listen)
    } catch {
      Console.report("httpcache: the rules of the server in \(directory) are unknown: \(error)")
      return nil
    }
  }

  /// Whether a URL has the address of the server as its host and port.
  func isListening(at url: TargetURL) -> Bool {
    guard let address, address.port == url.port else { return false }
    let host = url.host.lowercased()
    let isEveryAddress = ["0.0.0.0", "::"].contains(address.host)
    return host == address.host.lowercased()
      || (isEveryAddress || address.isLoopback) && ListenAddress(host: host, port: url.port).isLoopback
  }

  /// Whether the server asks the origin of a URL.
  func asksOrigin(of url: TargetURL) -> Bool {
    guard let (origin, _) = Origin.split(url.normalized) else { return false }
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

  /// The prefixes under which responses to URLs of the server's clients are stored that begin with a prefix.
  ///
  /// - Throws: `ValidationError` for a prefix with a path that is no URL.
  func prefixes(for prefix: String) throws -> [String] {
    guard TargetURL.namesHost(prefix) else { return [] }
    let url = try TargetURL(parsing: prefix)
    return StoredPlace.prefixes(of: url.path, in: routes) { path in
      (try? url.with(path: path)).flatMap { place(of: $0)?.target }
    }
  }

  /// The responses to URLs that begin with a prefix, and those to URLs of the server's clients that do.
  ///
  /// - Throws: as `prefixes(for:)`.
  func selections(ofPrefix prefix: String) throws -> [CacheSelection] {
    let prefixes = [TargetURL.normalizedPrefix(prefix)] + (try prefixes(for: prefix))
    return StoredPlace.distinct(prefixes: prefixes).map { .prefix($0) }
  }

  /// The responses of a group, under its origin and those that clients reach by it.
  func selections(ofGroup name: String, origin url: TargetURL) -> [CacheSelection] {
    // As in keys: in lower case, without the default port and without a path.
    let origins = ([url.normalized] + origins(for: url)).map { TargetURI.origin(of: $0) ?? $0 }
    return Set(origins).sorted().map { .group(origin: $0, name: name) }
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
