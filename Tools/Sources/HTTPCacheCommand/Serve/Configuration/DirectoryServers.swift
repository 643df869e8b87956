import ArgumentParser
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching

/// The servers of a directory: all that run, or else the one that ended last.
struct DirectoryServers {
  let all: [ServedDirectory]

  init(_ all: [ServedDirectory]) { self.all = all }

  /// Reads the notes of the servers.
  ///
  /// - Parameter directory: the directory of a cache.
  init(_ directory: String) {
    all = FoundServeNote.records(in: directory).compactMap { ServedDirectory($0, in: directory) }
  }

  /// The servers with a private cache, or those with a shared one.
  func with(_ mode: CacheMode) -> DirectoryServers { DirectoryServers(all.filter { $0.rules.mode == mode }) }

  /// The rules by which the responses of a key are used; nil if no server has a cache of its mode.
  func rules(of key: CacheKey) -> CacheRules? {
    let servers = with(key.mode).all
    guard servers.count > 1 else { return servers.first?.rules }
    let origin = TargetURI.origin(of: key.target)
    let server = servers.first { $0.routes.contains { "\($0.group.origin)" == origin } }
    return (server ?? servers.first { $0.routes.isEmpty } ?? servers.first)?.rules
  }

  /// Whether a client that asks for a URL gets 404, because no route of the servers serves the URL.
  func hasNoRoute(for url: TargetURL) -> Bool {
    let servers = listening(at: url) ?? all
    return !servers.isEmpty && servers.allSatisfy { $0.hasNoRoute(for: url) }
  }

  // MARK: URLs of clients

  /// The server that stores the responses to a URL of its clients under another URL; nil if no server does.
  ///
  /// - Throws: `ValidationError` if two servers store them under different URLs.
  func server(of url: TargetURL) throws(ValidationError) -> ServedDirectory? {
    try server(of: url, storedAs: url.normalized) { $0.placeTargets(of: url) }
  }

  /// The targets under which responses to a URL may be stored: the URL's own, and those of a server's route.
  ///
  /// - Throws: as `server(of:)`.
  func targets(of url: TargetURL) throws(ValidationError) -> [String] {
    let owner = try server(of: url)
    let targets = url.targets + (owner?.placeTargets(of: url) ?? [])
    var keys: [String] = []
    for key in (all.isEmpty ? [.unserved] : all).flatMap({ $0.keys(of: targets) }) where !keys.contains(key) {
      keys.append(key)
    }
    return keys
  }

  /// The prefixes under which responses to URLs of a server's clients are stored that begin with a prefix.
  ///
  /// - Throws: `ValidationError` for a prefix with a path that is no URL, and as `server(of:)`.
  func prefixes(for prefix: String) throws -> [String] {
    try server(ofPrefix: prefix)?.prefixes(for: prefix) ?? []
  }

  /// The responses to URLs that begin with a prefix, and those to URLs of a server's clients that do.
  ///
  /// - Throws: as `prefixes(for:)`.
  func selections(ofPrefix prefix: String) throws -> [CacheSelection] {
    try server(ofPrefix: prefix)?.selections(ofPrefix: prefix)
      ?? [.prefix(TargetURL.normalizedPrefix(prefix))]
  }

  /// The responses of a group, under its origin and those that clients reach by it.
  ///
  /// - Throws: as `server(of:)`.
  func selections(ofGroup name: String, origin url: TargetURL) throws(ValidationError) -> [CacheSelection] {
    let origin = TargetURI.origin(of: url.normalized) ?? url.normalized
    let owner = try server(of: url, storedAs: origin) { $0.origins(for: url) }
    return (owner ?? .unserved).selections(ofGroup: name, origin: url)
  }

  private func server(ofPrefix prefix: String) throws -> ServedDirectory? {
    guard !all.isEmpty, TargetURL.namesHost(prefix) else { return nil }
    let url = try TargetURL(parsing: prefix)
    return try server(of: url, storedAs: TargetURL.normalizedPrefix(prefix)) { server in
      (try? server.prefixes(for: prefix)) ?? []
    }
  }

  /// The server to which a URL of clients belongs; nil if no server serves it.
  ///
  /// - Parameters:
  ///   - own: the URL, prefix or origin as keys spell it. A server that stores under it comes first.
  ///   - places: what a server stores the responses under; empty if the URL is none of the server's clients.
  /// - Throws: `ValidationError` if two servers store the responses under different URLs.
  private func server(
    of url: TargetURL, storedAs own: String, _ places: (ServedDirectory) -> [String]
  ) throws(ValidationError) -> ServedDirectory? {
    let found = candidates(url).map { (server: $0, places: places($0)) }.filter { !$0.places.isEmpty }
    guard let first = found.first(where: { $0.places.contains(own) }) ?? found.first else { return nil }
    guard !first.places.contains(own), let other = found.first(where: { $0.places != first.places }) else {
      return first.server
    }
    let servers = [first, other].map { $0.server.address.map { "\($0)" } ?? "?" }.joined(separator: " and ")
    throw ValidationError(
      "the servers at \(servers) store responses to \(own) under different URLs; give the URL of the origin: "
        + [first, other].map { $0.places.joined(separator: ", ") }.joined(separator: " or "))
  }

  /// The servers of which a URL may be one of clients: none for the URL of an origin.
  private func candidates(_ url: TargetURL) -> [ServedDirectory] {
    if let servers = listening(at: url) { return servers }
    return all.contains { $0.asksOrigin(of: url) } ? [] : all
  }

  /// The servers that listen on the host and port of a URL; nil if none does.
  private func listening(at url: TargetURL) -> [ServedDirectory]? {
    let servers = all.filter { $0.isListening(at: url) }
    return servers.isEmpty ? nil : servers
  }
}
