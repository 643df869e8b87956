import ArgumentParser
import HTTPCacheProxy
import HTTPCacheSemantics
import HTTPCaching

/// The servers of a directory: all that run, or else the ended one whose note was written last.
struct DirectoryServers {
  /// The servers, also those whose rules are unknown.
  private let all: [ServedDirectory]

  init(_ all: [ServedDirectory]) { self.all = all }

  /// Reads the notes of the servers.
  ///
  /// - Parameter directory: the directory of a cache.
  init(_ directory: String) {
    all = FoundServeNote.current(in: directory).map { ServedDirectory($0, in: directory) }
      .filter { $0.isLive || $0.unreadFile == nil }
  }

  /// The servers whose rules are known.
  var known: [ServedDirectory] { all.filter { $0.unreadFile == nil } }

  /// The servers with a private cache, or those with a shared one, and those whose rules are unknown.
  func with(_ mode: CacheMode) -> DirectoryServers {
    DirectoryServers(all.filter { $0.rules.mode == mode || $0.unreadFile != nil })
  }

  /// The rules by which the responses of a key are used; nil if no server has a cache of its mode.
  func rules(of key: CacheKey) -> CacheRules? {
    let servers = with(key.mode).known
    let server =
      servers.first { $0.asksOrigin(of: key.target) }
      // These servers store under URLs that are not those of a route's origin.
      ?? servers.first { $0.routes.isEmpty || $0.routes.contains(where: \.preservesHost) }
    return (server ?? servers.first)?.rules
  }

  /// Whether a client that asks for a URL gets 404, because no route of the servers that run serves the URL.
  func hasNoRoute(for url: TargetURL) -> Bool {
    let servers = listening(at: url) ?? all
    return !servers.isEmpty && servers.allSatisfy { $0.isLive && $0.hasNoRoute(for: url) }
  }

  // MARK: URLs of clients

  /// The server that stores the responses to a URL of its clients; nil if no server does.
  ///
  /// - Throws: `ValidationError` if two servers store them under different URLs, none of which is the URL itself, and
  ///   as `targets(of:)`.
  func server(of url: TargetURL) throws(ValidationError) -> ServedDirectory? {
    let serving = try self.serving(url) { $0.placeTargets(of: url) }
    let own = serving.first { $0.places.contains(url.normalized) }
    guard own == nil, let first = serving.first,
      let other = serving.first(where: { $0.places != first.places })
    else { return (own ?? serving.first)?.server }
    let servers = [first, other].map { $0.server.address.map { "\($0)" } ?? "?" }.joined(separator: " and ")
    throw ValidationError(
      "the servers at \(servers) store responses to \(url.normalized) under different URLs; give the URL of the "
        + "origin: " + [first, other].map { $0.places.joined(separator: ", ") }.joined(separator: " or "))
  }

  /// The targets under which responses to a URL may be stored: the URL's own, and those of the servers' routes.
  ///
  /// - Throws: `ValidationError` if the URL may be one of the clients of a server whose rules are unknown.
  func targets(of url: TargetURL) throws(ValidationError) -> [String] {
    let places = try serving(url) { $0.placeTargets(of: url) }.flatMap { $0.places }
    let servers = known.isEmpty ? [ServedDirectory.unserved] : known
    return Self.distinct(servers.flatMap { $0.keys(of: url.targets + places) })
  }

  /// The prefixes under which responses to URLs of clients are stored that begin with a prefix. One without a path may
  /// end within a host: it is a prefix of such URLs only with the address of a server, or the host of a route.
  ///
  /// - Throws: `ValidationError` for a prefix with a path that is no URL, and as `targets(of:)`.
  func prefixes(for prefix: String) throws -> [String] {
    guard !all.isEmpty, let url = try TargetURL.named(byPrefix: prefix),
      TargetURL.namesHost(prefix) || all.contains(where: { $0.hasHost(of: url) })
    else { return [] }
    return try serving(url) { $0.prefixes(for: url) }.flatMap { $0.places }
  }

  /// The responses to URLs that begin with a prefix, and those to URLs of clients that do.
  ///
  /// - Throws: as `prefixes(for:)`.
  func selections(ofPrefix prefix: String) throws -> [CacheSelection] {
    let places = try prefixes(for: prefix)
    return StoredPlace.distinct(prefixes: [TargetURI.normalized(prefix) ?? prefix] + places)
      .map { .prefix($0) }
  }

  /// The responses of a group, under its origin and those that clients reach by it.
  ///
  /// - Throws: as `targets(of:)`.
  func selections(ofGroup name: String, origin url: TargetURL) throws(ValidationError) -> [CacheSelection] {
    let places = try serving(url) { $0.origins(for: url) }.flatMap { $0.places }
    // As in keys: in lower case, without the default port and without a path.
    let origins = ([url.normalized] + places).map { TargetURI.origin(of: $0) ?? $0 }
    return Set(origins).sorted().map { .group(origin: $0, name: name) }
  }

  /// The values without those that come a second time.
  static func distinct(_ values: [String]) -> [String] {
    values.indices.filter { !values[..<$0].contains(values[$0]) }.map { values[$0] }
  }

  /// The servers of which a URL is one of clients: of the servers that a URL names, or of all; none for the URL of an
  /// origin.
  ///
  /// - Parameter places: what a server stores the responses under; empty if the URL is none of the server's clients.
  /// - Throws: `ValidationError` if the URL may be one of the clients of a server whose rules are unknown.
  private func serving(
    _ url: TargetURL, places: (ServedDirectory) -> [String]
  ) throws(ValidationError) -> [(server: ServedDirectory, places: [String])] {
    let named = listening(at: url)
    if named == nil, all.contains(where: { $0.asksOrigin(of: url.normalized) }) { return [] }
    let servers = named ?? all
    for server in servers where server.mayListen(at: url) {
      guard let file = server.unreadFile else { continue }
      let name = server.address.map { "the server at \($0)" } ?? "a server of the directory"
      throw ValidationError(
        "\(url.normalized) may be a URL of clients of \(name), whose rules are unknown, because \(file) cannot be "
          + "read; give the URL of the origin")
    }
    let serving = servers.map { (server: $0, places: places($0)) }.filter { !$0.places.isEmpty }
    let onEveryAddress = serving.filter { $0.server.mayListen(at: url) }
    return onEveryAddress.isEmpty ? serving : onEveryAddress
  }

  /// The servers that a URL names by its host and port: those with this address, or else those that clients of this
  /// machine reach at it; nil if there is none.
  private func listening(at url: TargetURL) -> [ServedDirectory]? {
    let equal = all.filter { $0.hasAddress(of: url) }
    let servers = equal.isEmpty ? all.filter { $0.isListening(at: url) } : equal
    return servers.isEmpty ? nil : servers
  }
}
