public import HTTPTypes

/// Selects one of several stored responses for a request (RFC 9111 §4.1).
public enum Vary {
  /// The maximum number of field names in `Vary`.
  public static let nominationLimit = 64

  /// The fields that a response nominates, with their values in the request that it answers.
  ///
  /// The values of `Authorization`, `Proxy-Authorization` and `Cookie` are kept as digests only.
  ///
  /// - Parameters:
  ///   - response: the response; all lines of its `Vary` count.
  ///   - request: the request as it was forwarded.
  ///   - rules: whether values are normalised.
  ///   - digest: makes the digest of a secret value.
  package static func nominated(
    by response: HTTPResponse, in request: HTTPRequest, rules: CacheRules, digest: SecretDigest
  ) -> NominationResult {
    let names: [HTTPField.Name]
    switch self.names(of: response, rules: rules) {
    case .names(let found): names = found
    case .any: return .any
    case .malformed: return .malformed
    }
    var nominated: [NominatedField] = []
    nominated.reserveCapacity(names.count)
    for name in names {
      guard request.headerFields.contains(name) else {
        nominated.append(NominatedField(name: name, value: .absent))
        continue
      }
      let text = normalized(name, in: request.headerFields, rules: rules)
      if FieldHygiene.isCredential(name) {
        guard let digest = digest(text) else { return .secretWithoutDigest(name) }
        nominated.append(NominatedField(name: name, value: .digest(digest)))
      } else {
        nominated.append(NominatedField(name: name, value: .text(text)))
      }
    }
    return .fields(nominated)
  }

  /// Selects the stored response for a request.
  ///
  /// If several match, the most recent one by `Date` is chosen (§4), and a response with `Vary` before one
  /// without (§4.1).
  ///
  /// - Parameters:
  ///   - stored: the candidates for the request's key, most recently stored first.
  ///   - request: the request, with all the fields that `Vary` may nominate.
  ///   - rules: whether values are normalised.
  ///   - digest: makes the digest of a secret value.
  public static func select(
    among stored: [StoredResponse], for request: HTTPRequest, rules: CacheRules,
    digest: SecretDigest
  ) -> VariantSelection {
    var untraced = Untraced()
    return select(among: stored, for: request, rules: rules, digest: digest, trace: &untraced)
  }

  static func select<Trace: RuleTrace>(
    among stored: [StoredResponse], for request: HTTPRequest, rules: CacheRules, digest: SecretDigest,
    trace: inout Trace
  ) -> VariantSelection {
    if stored.isEmpty { return .nothingStored }
    var selected: Int?
    for index in stored.indices {
      let isMatch = matches(stored[index], request: request, rules: rules, digest: digest)
      trace.note(
        "Is \(stored.count == 1 ? "it" : "number \(index + 1)") for this request?",
        "\(isMatch ? "yes" : "no"): it is for "
          + Excerpt.list(
            nominated(of: stored[index], rules: rules).prefix(16).map(\.text), orElse: "any"),
        section: "RFC 9111 §4.1", topic: .variant)
      guard isMatch else { continue }
      guard let best = selected else {
        selected = index
        continue
      }
      if isPreferred(stored[index], to: stored[best]) { selected = index }
    }
    guard let selected else {
      return .mismatch(mismatches(among: stored, for: request, rules: rules, digest: digest))
    }
    if stored.count > 1 {
      trace.note(
        "Which of them is taken?",
        "number \(selected + 1), of \(stored[selected].date.httpDate): one with Vary before one without, "
          + "then the latest by Date", section: "RFC 9111 §4.1", topic: .variant)
    }
    return .selected(selected)
  }

  /// Whether the request has the nominated fields of a stored response.
  public static func matches(
    _ stored: StoredResponse, request: HTTPRequest, rules: CacheRules, digest: SecretDigest
  ) -> Bool {
    matches(stored.nominated, of: stored, request: request, rules: rules, digest: digest)
  }

  /// Whether the request has the nominated fields of a stored response, which is seldom needed itself: a hit does not
  /// copy it.
  package static func matches(
    _ fields: [NominatedField], of stored: @autoclosure () -> StoredResponse, request: HTTPRequest,
    rules: CacheRules, digest: SecretDigest
  ) -> Bool {
    let isPlain = rules.isPlain && !rules.separatesCredentials
    return (isPlain ? fields : nominated(of: stored(), rules: rules)).allSatisfy {
      matches($0, fields: request.headerFields, rules: rules, digest: digest)
    }
  }

  /// Whether the value of one nominated field equals the stored value. A value that equals the stored text
  /// needs no normalising, because normalising twice changes nothing.
  static func matches(
    _ nominated: NominatedField, fields: HTTPFields, rules: CacheRules, digest: SecretDigest
  ) -> Bool {
    switch nominated.value {
    case .absent: return fields.firstIndex(of: nominated.name) == nil
    case .text(var text):
      guard let first = fields.firstIndex(of: nominated.name) else { return false }
      let isSame = fields[first].withUnsafeBytesOfValue { octets in
        text.withUTF8 { $0.isEqual(to: octets) }
      }
      // The text of octets outside of ASCII has other octets (`Octets.text`).
      if isSame, text.utf8.allSatisfy({ $0 < 0x80 }),
        fields.firstIndex(of: nominated.name, from: first + 1) == nil
      {
        return true
      }
      if rules.normalizesVary, isPreference(nominated.name),
        let isEqual = arePreferences(nominated.name, in: fields, equalTo: &text)
      {
        return isEqual
      }
      return normalized(nominated.name, in: fields, rules: rules) == text
    case .digest(let stored):
      guard fields.contains(nominated.name) else { return false }
      return digest(normalized(nominated.name, in: fields, rules: rules)) == stored
    }
  }

  /// Whether normalised preferences equal a stored text; nil if they cannot be compared as octets.
  private static func arePreferences(
    _ name: HTTPField.Name, in fields: HTTPFields, equalTo text: inout String
  ) -> Bool? {
    withPreferences(name, in: fields) { octets in
      octets.map { octets in text.withUTF8 { $0.isEqual(to: octets) } }
    }
  }

  /// Whether a matching response is preferred over one that is earlier in the list.
  private static func isPreferred(_ stored: StoredResponse, to best: StoredResponse) -> Bool {
    if stored.nominated.isEmpty != best.nominated.isEmpty { return best.nominated.isEmpty }
    return stored.date > best.date
  }

  /// The fields in which the candidates differ from the request, in order of appearance.
  static func mismatches(
    among stored: [StoredResponse], for request: HTTPRequest, rules: CacheRules,
    digest: SecretDigest
  ) -> [HTTPField.Name] {
    var names: [HTTPField.Name] = []
    for candidate in stored {
      for nominated in nominated(of: candidate, rules: rules)
      where !names.contains(nominated.name)
        && !matches(nominated, fields: request.headerFields, rules: rules, digest: digest)
      {
        names.append(nominated.name)
      }
    }
    return names
  }

  enum Names {
    case names([HTTPField.Name])
    case any
    case malformed
  }

  /// The names that `Vary` lists, each once. `*` wins over everything else in the list.
  static func names(in fields: HTTPFields) -> Names {
    var names: [HTTPField.Name] = []
    var isAny = false
    var isMalformed = false
    fields.forEachMember(of: .vary) { member in
      if member.count == 1, member[0] == UInt8(ascii: "*") {
        isAny = true
      } else if let name = HTTPField.Name(member.text), names.count < nominationLimit {
        if !names.contains(name) { names.append(name) }
      } else {
        isMalformed = true
      }
    }
    if isAny { return .any }
    return isMalformed ? .malformed : .names(names)
  }
}

extension StoredResponse {
  /// Its `Date`, or the time of its arrival.
  var date: Timestamp { dateField ?? responseTime }

  /// Its `Date`; nil if it is missing or invalid.
  package var dateField: Timestamp? { head.headerFields.date(.date, relativeTo: responseTime).time }
}

/// The stored response that a request selects (RFC 9111 §4.1).
public enum VariantSelection: Sendable, Hashable {
  /// The response at this index.
  case selected(Int)
  /// No response is stored.
  case nothingStored
  /// No response matches; they differ in these fields.
  case mismatch([HTTPField.Name])
}

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
