public import HTTPTypes

/// Which fields are stored and forwarded (RFC 9111 §3.1, RFC 9110 §7.6.1).
public enum FieldHygiene {
  /// The response without the header fields that must not be stored (RFC 9111 §3.1).
  ///
  /// These are the fields of one connection and of one proxy, the fields that a qualified `no-cache` names,
  /// and in a shared cache the fields that a qualified `private` names, and `Set-Cookie` unless
  /// `CacheRules.keepsSetCookie` is on (§7.3).
  public static func storable(_ response: HTTPResponse, rules: CacheRules) -> HTTPResponse {
    permitted(
      response, directives: ResponseDirectives(of: response, rules: rules), rules: rules,
      leavesOutCookies: CookieSharing.isLeftOut(by: rules))
  }

  /// The response without the header fields that its directives forbid to store, and those of one connection.
  ///
  /// - Parameter directives: of the response, by the rules alone.
  static func permitted(
    _ response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules, leavesOutCookies: Bool
  ) -> HTTPResponse {
    let excluded = excluded(by: response, directives, rules: rules)
    func isExcluded(_ name: HTTPField.Name) -> Bool {
      isHopByHop(name) || (leavesOutCookies && name == .setCookie) || excluded.contains(name.canonicalName)
    }
    guard response.headerFields.contains(where: { isExcluded($0.name) }) else { return response }
    var stored = response
    stored.headerFields.removeAll { isExcluded($0.name) }
    return stored
  }

  /// The trailer fields of a response without those that must not be stored. A shared cache also drops
  /// `Set-Cookie`: it belongs in the header, where its rule looks for it (§7.3).
  ///
  /// - Parameters:
  ///   - trailers: the trailer fields as they arrived.
  ///   - response: the head as it arrived.
  ///   - rules: the choices of the cache.
  public static func storable(
    trailers: HTTPFields, of response: HTTPResponse, rules: CacheRules
  ) -> HTTPFields {
    if trailers.isEmpty { return trailers }
    let excluded = excluded(by: response, ResponseDirectives(of: response, rules: rules), rules: rules)
    var stored = trailers
    stored.removeAll {
      isHopByHop($0.name) || excluded.contains($0.name.canonicalName)
        || (rules.mode == .shared && $0.name == .setCookie)
    }
    return stored
  }

  /// The names of fields that the response forbids to store, in lower case.
  private static func excluded(
    by response: HTTPResponse, _ directives: ResponseDirectives, rules: CacheRules
  ) -> Set<String> {
    var excluded = connectionOptions(response.headerFields)
    func exclude(_ directives: ResponseDirectives) {
      if case .fields(let names) = directives.noCache { excluded.formUnion(names) }
      if rules.mode == .shared, case .fields(let names) = directives.private { excluded.formUnion(names) }
    }
    exclude(directives)
    for rules in rules.otherReadings { exclude(ResponseDirectives(of: response, rules: rules)) }
    return excluded
  }

  /// The fields without those for the next hop only (RFC 9110 §7.6.1), and without credentials and challenges
  /// of proxies (§11.7). For messages that a proxy passes on.
  public static func forwardable(_ fields: HTTPFields) -> HTTPFields {
    let options = connectionOptions(fields)
    // By index: iterating copies each field, and most messages have at most one such field.
    let removed = fields.indices.filter { index in
      let name = fields[index].name
      return isHopByHop(name) || !options.isEmpty && options.contains(name.canonicalName)
    }
    if removed.isEmpty { return fields }
    var forwarded = fields
    if removed.count == 1 {
      forwarded.remove(at: removed[0])
    } else {
      forwarded.removeAll { isHopByHop($0.name) || options.contains($0.name.canonicalName) }
    }
    return forwarded
  }

  /// Trailer fields without those that are never accepted in trailers: fields for framing, routing and the meaning of
  /// a message (RFC 9110 §6.5.1). For messages that a proxy passes on.
  public static func forwardable(trailers: HTTPFields) -> HTTPFields {
    if trailers.isEmpty { return trailers }
    var forwarded = trailers
    forwarded.removeAll { isHopByHop($0.name) || notInTrailers.contains($0.name.canonicalName) }
    return forwarded
  }

  private static let notInTrailers: Set<String> = [
    "content-length", "host", "trailer", "content-encoding", "content-type", "content-range",
    "cache-control", "authorization", "set-cookie", "age", "expires", "date", "location", "vary",
    "max-forwards", "via", "cookie", "expect", "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "pragma", "range", "www-authenticate",
  ]

  /// Whether the values of a field are credentials: they must never reach a store (RFC 9111 §7.3), another origin, or
  /// the answer to TRACE (RFC 9110 §9.3.8).
  public static func isCredential(_ name: HTTPField.Name) -> Bool {
    name == .authorization || name == .proxyAuthorization || name == .cookie
  }

  /// Whether `Connection` may limit a field to one connection by naming it.
  ///
  /// It may not for a field that all recipients need: RFC 9110 §7.6.1 forbids to send such an option, and names
  /// `Cache-Control`. Obeying it would hide restrictions on the use of a response.
  ///
  /// - Parameter name: in lower case.
  static func isConnectionOption(_ name: String) -> Bool {
    switch name {
    case "age", "authorization", "cache-groups", "cache-group-invalidation", "clear-site-data",
      "cookie", "date", "etag", "expires", "host", "last-modified", "location", "no-vary-search",
      "pragma", "range", "repr-digest", "set-cookie", "vary":
      false
    default:
      !name.hasSuffix("cache-control") && !name.hasPrefix("content-") && !name.hasPrefix("if-")
    }
  }

  /// The names of fields that `Connection` limits to one connection, in lower case, without those that are hop-by-hop
  /// anyway. A message must have no trailer fields with these names either (RFC 9110 §7.6.1).
  public static func connectionOptions(_ fields: HTTPFields) -> Set<String> {
    var options: Set<String> = []
    fields.forEachLine(of: .connection) { value in
      // Tokens: a quotation mark hides no comma.
      var rest = value
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.count
        let name = rest.part(0..<end).trimmed().lowercasedText
        switch name {
        case "", "close", "keep-alive", "upgrade", "te": break
        default: if isConnectionOption(name) { options.insert(name) }
        }
        rest = rest.part(Swift.min(end + 1, rest.count)..<rest.count)
      }
    }
    return options
  }

  private static func isHopByHop(_ name: HTTPField.Name) -> Bool {
    // By length first: a comparison of strings takes 150 instructions, and each field of each message passes here.
    switch name.canonicalName.utf8.count {
    case 2: name == .te
    case 7: name == .upgrade
    case 10: name == .connection || name == FieldNames.keepAlive
    case 14: name == FieldNames.http2Settings
    case 16: name == FieldNames.proxyConnection
    case 17: name == .transferEncoding
    case 18: name == .proxyAuthenticate
    case 19: name == .proxyAuthorization
    case 25: name == .proxyAuthenticationInfo
    default: false
    }
  }
}
