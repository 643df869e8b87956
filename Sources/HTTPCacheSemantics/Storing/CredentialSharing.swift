import HTTPTypes

/// Whether a shared cache may guess about responses to requests with `Cookie` or `Authorization`.
///
/// RFC 9111 §4.2.2 lets a cache guess a lifetime. But an origin that does not mention caching may have made the page
/// for the user that the credentials name.
enum CredentialSharing {
  static func hasCredentials(_ request: HTTPRequest) -> Bool {
    request.headerFields.contains { $0.name == .cookie || $0.name == .authorization }
  }

  /// Whether the response to a request with credentials must not be stored, because nothing says that all users may
  /// have it: no lifetime above 0 of the origin or of an override, and no `public`. A response of which each use is
  /// validated may be stored: with `no-cache`, or without a lifetime and with a directive that forbids stale use.
  ///
  /// - Parameter directives: of the response, with the overrides of the rules.
  static func isForbidden(
    _ response: HTTPResponse, directives: ResponseDirectives, rules: CacheRules, now: Timestamp
  ) -> Bool {
    if directives.flags.contains(.public) || directives.noCache == .whole { return false }
    let isSaid =
      directives.givesLifetime(in: rules.mode) || directives.hasOverriddenLifetime
      || (directives.obeysExpires && response.headerFields.date(.expires, relativeTo: now).time != nil)
    let lifetime = Freshness.facts(
      response: response, directives: directives, requestTime: now, responseTime: now, rules: rules
    ).freshnessLifetime
    return lifetime > 0 ? !isSaid : !directives.flags.forbidsStale(in: rules.mode)
  }

  /// Whether a stored response with a guessed lifetime must be validated before it answers a request with credentials:
  /// the user may get another page.
  static func mustValidate(_ facts: ReuseFacts, for request: HTTPRequest, rules: CacheRules) -> Bool {
    rules.mode == .shared && facts.lifetimeSource == .heuristic && hasCredentials(request)
      && !facts.directives.contains(.public)
  }
}
