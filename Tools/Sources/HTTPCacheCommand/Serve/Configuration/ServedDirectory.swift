import Foundation
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching

/// How the last server of a directory decides.
struct ServedDirectory {
  /// The rules of the server.
  let rules: CacheRules
  /// Where the server sends requests; empty for a forward proxy.
  let routes: [GatewayRoute]

  /// - Parameter directory: the directory of a cache.
  /// - Returns: nil if no server has used the directory, or its choices cannot be read.
  init?(_ directory: String) {
    guard let record = ServeRecord.load(from: directory) else { return nil }
    do throws(ConfigFailure) {
      let file = try record.file.map { (file) throws(ConfigFailure) in try file.read() }
      rules = record.rules(file)
      routes = record.gateway?.routes(file) ?? []
    } catch {
      Console.report("httpcache: the rules of the server in \(directory) are unknown: \(error)")
      return nil
    }
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
    guard let place = place(of: url) else { return [] }
    // A prefix may end above the paths of routes, which may lead to other origins.
    let below = routes.filter { $0.path != "/" && $0.path.hasPrefix(url.path) }.compactMap {
      try? self.place(of: url.with(path: $0.path))?.target
    }
    return [place.target] + below.filter { $0 != place.target }
  }

  /// The origins under which responses to URLs of an origin's clients are stored.
  func origins(for url: TargetURL) -> [String] {
    guard place(of: url) != nil else { return [] }
    return Set(routes.map { "\($0.group.origin)/" }).sorted()
  }
}
