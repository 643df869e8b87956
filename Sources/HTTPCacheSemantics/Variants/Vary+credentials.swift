package import HTTPTypes

/// `CacheRules.separatesCredentials`.
extension Vary {
  /// The names that `Vary` of a response lists, without those that overrides ignore, and with `Authorization`
  /// if credentials are separated.
  static func names(of response: HTTPResponse, rules: CacheRules) -> Names {
    let listed = listedNames(of: response, rules: rules)
    guard rules.separatesCredentials, case .names(let names) = listed,
      !names.contains(.authorization),
      !ResponseDirectives(of: response, rules: rules).flags.contains(.public)
    else { return listed }
    return .names(names + [.authorization])
  }

  /// The nominated fields of a stored response, without those that overrides ignore, and with `Authorization`
  /// if credentials are separated.
  static func nominated(of stored: StoredResponse, rules: CacheRules) -> [NominatedField] {
    let listed = listedNominated(of: stored, rules: rules)
    guard rules.separatesCredentials, !stored.facts.directives.contains(.public),
      !listed.contains(where: { $0.name == .authorization })
    else { return listed }
    let kept = stored.nominated.first { $0.name == .authorization }
    // A response that was stored while credentials were not separated has no digest: no credentials equal it.
    let unknown = NominatedField(
      name: .authorization, value: stored.answeredAuthorized ? .digest([]) : .absent)
    return listed + [kept ?? unknown]
  }

  /// Whether a validation for a request may name a stored response, as far as credentials go: an origin that
  /// confirms without looking at them would give one account's response to another.
  package static func mayName(
    _ stored: StoredResponse, for request: HTTPRequest, rules: CacheRules, digest: SecretDigest
  ) -> Bool {
    guard rules.separatesCredentials else { return true }
    return nominated(of: stored, rules: rules).allSatisfy {
      $0.name != .authorization
        || matches($0, fields: request.headerFields, rules: rules, digest: digest)
    }
  }
}
