#if Redis
  import HTTPCacheSemantics
  public import HTTPCaching

  /// The place of a server or a cluster, with the user that asks it: `redis://` or `rediss://` (over TLS), as
  /// `rediss://USER:PASSWORD@HOST:PORT/DATABASE`. Several hosts, separated by commas, are servers of one cluster; one is
  /// enough to find the others.
  ///
  /// Printing it does not show the password.
  public struct RedisAddress: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
  {
    /// The most hosts of an address.
    static let mostHosts = 64

    /// Whether the connections use TLS.
    public let isEncrypted: Bool
    /// The number of the database; 0 for a cluster.
    public let database: Int
    let endpoints: [RedisEndpoint]
    let username: String?
    let password: String?

    /// Reads an address.
    ///
    /// - Parameter text: user and password are percent-encoded; without a user, the password is that of the user
    ///   `default`. The port is 6379 unless it is there.
    /// - Throws: `SharedTierError` of the kind `refused` for any other text. Its message has nothing of user and
    ///   password.
    public init(_ text: String) throws(SharedTierError) {
      guard text.utf8.count <= 8_192 else { throw Self.invalid("longer than 8192 bytes") }
      var rest = text[...]
      if rest.lowercased().hasPrefix("redis://") {
        isEncrypted = false
        rest = rest.dropFirst("redis://".count)
      } else if rest.lowercased().hasPrefix("rediss://") {
        isEncrypted = true
        rest = rest.dropFirst("rediss://".count)
      } else {
        throw Self.invalid("it must begin with redis:// or rediss://")
      }
      guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
        throw Self.invalid("it has a query or a fragment; encode ? in a password as %3F, and # as %23")
      }
      let slash = rest.firstIndex(of: "/")
      database = try Self.database(of: slash.map { rest[rest.index(after: $0)...] } ?? "")
      rest = rest[..<(slash ?? rest.endIndex)]
      let at = rest.lastIndex(of: "@")
      (username, password) = try Self.credentials(of: at.map { rest[..<$0] })
      let hosts = at.map { rest[rest.index(after: $0)...] } ?? rest
      let list = hosts.split(separator: ",", omittingEmptySubsequences: false)
      guard list.count <= Self.mostHosts else {
        throw Self.invalid("it has more than \(Self.mostHosts) hosts")
      }
      var endpoints: [RedisEndpoint] = []
      for host in list {
        let endpoint = try Self.endpoint(of: host)
        if !endpoints.contains(endpoint) { endpoints.append(endpoint) }
      }
      self.endpoints = endpoints
      guard database == 0 || endpoints.count == 1 else {
        throw Self.invalid("it has several hosts and a database; a cluster has database 0 alone")
      }
    }

    private static func database(of path: Substring) throws(SharedTierError) -> Int {
      guard !path.isEmpty else { return 0 }
      guard let number = RESPNumber.parse(path.utf8), path.first?.isNumber == true, number <= 65_535 else {
        throw invalid("the database must be a number between 0 and 65535, after the first / behind the host")
      }
      return Int(number)
    }

    private static func credentials(of text: Substring?) throws(SharedTierError) -> (String?, String?) {
      guard let text else { return (nil, nil) }
      guard let colon = text.firstIndex(of: ":") else {
        throw invalid("it has a user without a password; write USER:PASSWORD@ or :PASSWORD@")
      }
      let user = TargetURI.percentDecoded(text[..<colon])
      let password = TargetURI.percentDecoded(text[text.index(after: colon)...])
      guard let user, let password, !password.isEmpty else {
        throw invalid("its user or password is empty, or not percent-encoded UTF-8")
      }
      return (user.isEmpty ? nil : user, password)
    }

    private static func endpoint(of text: Substring) throws(SharedTierError) -> RedisEndpoint {
      var host = text
      var port = 6_379
      if text.first == "[" {
        guard let end = text.firstIndex(of: "]") else { throw invalid("an IPv6 address without its ]") }
        host = text[text.index(after: text.startIndex)..<end]
        let rest = text[text.index(after: end)...]
        guard rest.isEmpty || rest.first == ":" else { throw invalid("text between ] and the port") }
        if !rest.isEmpty { port = try number(ofPort: rest.dropFirst()) }
        guard host.contains(":") else { throw invalid("brackets around what is no IPv6 address") }
      } else if let colon = text.firstIndex(of: ":") {
        host = text[..<colon]
        port = try number(ofPort: text[text.index(after: colon)...])
      }
      guard !host.isEmpty else { throw invalid("a host is missing") }
      guard host.utf8.count <= 255, isHost(String(host)) else {
        throw invalid("a host has characters that no host has, or is longer than 255 bytes")
      }
      return RedisEndpoint(host: String(host), port: port)
    }

    private static func number(ofPort text: Substring) throws(SharedTierError) -> Int {
      guard let port = RESPNumber.parse(text.utf8), text.first?.isNumber == true, (1...65_535).contains(port)
      else {
        throw invalid("a port must be a number between 1 and 65535; an IPv6 address needs brackets")
      }
      return Int(port)
    }

    /// Whether a text has only characters of names and addresses of hosts.
    static func isHost(_ text: String) -> Bool {
      !text.isEmpty && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || ".-_:%".utf8.contains($0) }
    }

    private static func invalid(_ message: String) -> SharedTierError {
      SharedTierError(.refused, "invalid address of a Redis server: \(message)")
    }

    /// The address without user and password.
    public var description: String {
      let hosts = endpoints.map(\.description).joined(separator: ",")
      return "\(isEncrypted ? "rediss" : "redis")://\(hosts)\(database == 0 ? "" : "/\(database)")"
    }

    /// Equal to `description`.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
  }
#endif
