import HTTPTypes

/// Whether a shared cache may keep a response that sets a cookie.
///
/// RFC 9111 §7.3 leaves it to the cache: `Set-Cookie` does not inhibit caching. But a cookie is usually meant for one
/// client, so the response is stored only with permission, and without the field (`FieldHygiene.storable`).
enum CookieSharing {
  /// Whether a response must not be stored because of its `Set-Cookie`.
  ///
  /// - Parameters:
  ///   - response: the head as it would be stored if `Set-Cookie` were kept.
  ///   - rules: the choices of the cache.
  ///   - now: when the response arrived.
  static func isForbidden(_ response: HTTPResponse, rules: CacheRules, now: Timestamp) -> Bool {
    guard rules.mode == .shared, response.headerFields.contains(.setCookie) else { return false }
    if !rules.isPlain,
      ResponseDirectives.unprotected(response, rules: rules).contains(.setCookie)
    {
      return false
    }
    if rules.refusesSetCookie { return true }
    if ResponseDirectives(response.headerFields, rules: rules).flags.contains(.public) { return false }
    return !rules.keepsSetCookie || !isExplicitlyFresh(response.headerFields, rules: rules, now: now)
  }

  /// Whether `Set-Cookie` is left out of what is stored, as far as these rules are asked.
  static func isLeftOut(by rules: CacheRules) -> Bool { rules.mode == .shared && !rules.keepsSetCookie }

  /// Whether a stored response must not be used because of its `Set-Cookie`: it may have been stored under
  /// other rules.
  static func isForbidden(_ stored: StoredResponse, rules: CacheRules) -> Bool {
    if rules.mode == .private || stored.facts.directives.contains(.withoutSetCookie) { return false }
    if isLeftOut(by: rules) { return stored.head.headerFields.contains(.setCookie) }
    // Overrides were applied when the response was seen by them.
    guard stored.facts.overrides == 0 else { return false }
    if !rules.refusesSetCookie, rules.keepsSetCookie, stored.facts.freshnessLifetime > 0 {
      switch stored.facts.lifetimeSource {
      case .sMaxAge, .maxAge, .expires, .targeted: return false
      case .none, .heuristic, .override: break
      }
    }
    return isForbidden(stored.head, rules: rules, now: stored.responseTime)
  }

  /// Whether the origin itself gives a lifetime above 0 (§4.2.1).
  private static func isExplicitlyFresh(
    _ fields: HTTPFields, rules: CacheRules, now: Timestamp
  ) -> Bool {
    let directives = ResponseDirectives(fields, rules: rules)
    if let lifetime = directives.lifetime(in: rules.mode) { return lifetime.seconds > 0 }
    guard directives.obeysExpires, let expires = fields.date(.expires, relativeTo: now).time else {
      return false
    }
    return expires > fields.date(.date, relativeTo: now).time ?? now
  }
}
