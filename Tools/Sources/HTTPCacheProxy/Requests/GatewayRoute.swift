/// The requests of a gateway for a host and a path, and where they go.
public struct GatewayRoute: Sendable {
  /// The host that clients request: a name, or `*.domain` for all below it; nil is every host.
  public var host: String?
  /// The path that requests begin with, as whole segments: `/api` is also `/api/users`, and not `/apiary`.
  public var path = "/"
  /// Where the requests go.
  public var group: OriginGroup
  /// The path of the origin below which requests go, without a slash at its end.
  public var basePath = ""
  /// Whether `path` is left out of the origin's path.
  public var stripsPath = false
  /// Whether the origin gets the client's `Host` instead of its own name.
  public var preservesHost = false
  /// Whether responses are stored and used.
  public var isCached = true
  /// The limits of silence that differ from the server's.
  public var silence = SilenceLimits()
  /// Changes of the fields of requests.
  public var requestFields = FieldRules()
  /// Changes of the fields of responses.
  public var responseFields = FieldRules()

  /// Makes a route for all requests.
  public init(to group: OriginGroup) { self.group = group }

  /// Whether requests go to an origin.
  package func asks(_ origin: Origin) -> Bool { group.origin == origin || group.addresses.contains(origin) }

  /// Whether the route is for a request.
  ///
  /// - Parameters:
  ///   - host: the host of the request in lower case; nil if there is none.
  ///   - path: its normalised path, with or without a query.
  func matches(host: String?, path: String) -> Bool {
    Self.isHost(host, of: self.host) && rest(of: path) != nil
  }

  /// Whether the route is for a request that an origin may read as one for a path: without letter case, and with the
  /// name of a format behind `path`, which Rails and Spring drop.
  ///
  /// - Parameters:
  ///   - host: the host of the request in lower case; nil if there is none.
  ///   - path: a reading of its path (`PathReadings`), with or without a query.
  func covers(host: String?, path: String) -> Bool {
    guard Self.isHost(host, of: self.host) else { return false }
    let prefix = prefix.lowercased()
    let path = path.lowercased()
    guard path.hasPrefix(prefix) else { return false }
    return prefix.isEmpty || path.utf8.count == prefix.utf8.count
      || [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ".")]
        .contains(path.utf8[path.utf8.index(path.startIndex, offsetBy: prefix.utf8.count)])
  }

  /// The path at the origin, below `basePath`.
  func target(_ path: String) -> String {
    guard stripsPath, let rest = rest(of: path) else { return path }
    return rest.first == "/" ? String(rest) : "/" + rest
  }

  /// The reference that a client of this proxy follows instead of one that the origin made, such as `Location`: a path
  /// of the origin becomes the path of the proxy. Other references stay as they are: to other origins, with another
  /// scheme, to paths that this route does not serve, with dot segments, which could leave them, and relative ones; and
  /// those with a tab or the end of a line, which browsers remove: what is left could name a host.
  ///
  /// - Parameter requested: the origins by the client's `Host`, if the origin got it; empty if it got its own name.
  func reference(from value: String, requested: [Origin] = []) -> String {
    guard !value.utf8.contains(where: { $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }),
      let path = originPath(value, requested), !Self.hasDotSegment(path),
      let rest = Self.rest(of: path, below: basePath)
    else { return value }
    let own = (rest.first == "/" ? "" : "/") + rest
    if !stripsPath, self.rest(of: own) == nil { return value }
    let reference = stripsPath ? prefix + own : own
    // A reference that begins with two slashes names a host (RFC 3986 §4.2), and clients read a backslash as a slash.
    return reference.hasPrefix("//") || reference.hasPrefix("/\\") ? "/." + reference : reference
  }

  /// The path of a cookie for the client, instead of that of the origin, if the origin is served below another path. A path
  /// that is not below `basePath` stays as it is.
  func cookiePath(from path: String) -> String {
    guard path.hasPrefix("/"), !Self.hasDotSegment(path), let rest = Self.rest(of: path, below: basePath)
    else {
      return path
    }
    // All of the origin, also without a final slash.
    let isAll = basePath.isEmpty && rest == "/"
    let own = (stripsPath ? prefix : "") + (isAll ? "" : rest)
    return own.isEmpty ? "/" : String(own)
  }

  /// Whether the `Domain` of a cookie names the origin or an address of its group, and the client's host is not within
  /// that domain.
  func isForeign(cookieDomain value: String, clientHost: String) -> Bool {
    // A dot before the domain has no effect (RFC 6265 §5.2.3).
    let domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
    return (group.addresses + [group.origin]).contains { $0.host == domain }
      && clientHost != domain && !clientHost.hasSuffix("." + domain)
  }

  private static func hasDotSegment(_ reference: String) -> Bool {
    reference.prefix { $0 != "?" && $0 != "#" }.split { $0 == "/" || $0 == "\\" }.contains {
      // Browsers read an escape for a dot as a dot.
      [".", ".."].contains($0.lowercased().replacing("%2e", with: "."))
    }
  }

  /// The path, query and fragment of a reference to the origin; nil if it is relative to a path, or to another origin.
  private func originPath(_ value: String, _ requested: [Origin]) -> String? {
    if value.hasPrefix("/"), !value.hasPrefix("//") { return value }
    // A reference without a scheme has the scheme of the request that it answers (RFC 3986 §5.2.2).
    for absolute in value.hasPrefix("//") ? ["http:" + value, "https:" + value] : [value] {
      if let (origin, path) = Origin.split(absolute),
        origin == group.origin || requested.contains(origin) || group.addresses.contains(origin)
      {
        return path
      }
    }
    return nil
  }

  /// Whether a host in lower case is one of a pattern, which is written as `host`.
  package static func isHost(_ name: String?, of pattern: String?) -> Bool {
    guard let pattern else { return true }
    guard var name = name.map({ $0[...] }) else { return false }
    // The root label of a whole name (RFC 1034 §3.1), as in `example.com.`.
    if name.last == "." { name.removeLast() }
    guard pattern.hasPrefix("*.") else { return name == pattern }
    return name.hasSuffix(pattern.dropFirst()) && name.utf8.count >= pattern.utf8.count
  }

  /// `path` without a slash at its end.
  private var prefix: Substring { path.hasSuffix("/") ? path.dropLast() : path[...] }

  private func rest(of path: String) -> Substring? { Self.rest(of: path, below: prefix) }

  /// The part of a path behind a prefix of whole segments, with its slash, query or fragment; nil if it does not begin so.
  private static func rest(of path: String, below prefix: some StringProtocol) -> Substring? {
    guard path.hasPrefix(prefix) else { return nil }
    let rest = path.dropFirst(prefix.count)
    return rest.isEmpty || rest.first == "/" || rest.first == "?" || rest.first == "#" ? rest : nil
  }
}
