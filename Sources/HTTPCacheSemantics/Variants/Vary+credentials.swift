package import HTTPTypes

/// `CacheRules.separatesCredentials`.
extension Vary {
  /// The fields by which credentials are separated.
  static let credentials: [HTTPField.Name] = [.authorization, .cookie]

  /// The names that `Vary` of a response lists, without those that overrides ignore, and with `credentials`
  /// if they are separated.
  static func names(of response: HTTPResponse, rules: CacheRules) -> Names {
    let listed = listedNames(of: response, rules: rules)
    guard rules.separatesCredentials, case .names(let names) = listed,
      !ResponseDirectives(of: response, rules: rules).flags.contains(.public)
    else { return listed }
    return .names(names + credentials.filter { !names.contains($0) })
  }

  /// The nominated fields of a stored response, without those that overrides ignore, and with `credentials`
  /// if they are separated.
  static func nominated(of stored: StoredResponse, rules: CacheRules) -> [NominatedField] {
    let listed = listedNominated(of: stored, rules: rules)
    guard rules.separatesCredentials, !stored.facts.directives.contains(.public) else { return listed }
    let missing = credentials.filter { name in !listed.contains { $0.name == name } }
    return listed
      + missing.map { name in
        // A response that was stored while credentials were not separated has no digest: no credentials equal it.
        let isUnknown = name == .authorization && stored.answeredAuthorized
        return stored.nominated.first { $0.name == name }
          ?? NominatedField(name: name, value: isUnknown ? .digest([]) : .absent)
      }
  }

  /// Whether a validation for a request may name a stored response, as far as credentials go: an origin that
  /// confirms without looking at them would give one account's response to another.
  package static func mayName(
    _ stored: StoredResponse, for request: HTTPRequest, rules: CacheRules, digest: SecretDigest
  ) -> Bool {
    guard rules.separatesCredentials else { return true }
    return nominated(of: stored, rules: rules).allSatisfy {
      !credentials.contains($0.name)
        || matches($0, fields: request.headerFields, rules: rules, digest: digest)
    }
  }
}
