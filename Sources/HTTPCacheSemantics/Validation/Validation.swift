public import HTTPTypes

/// Conditional requests that ask whether stored responses are still valid (RFC 9111 §4.3.1).
public enum Validation {
  /// The maximum number of entity tags in one request.
  public static let entityTagLimit = 32

  /// Makes the request to forward.
  ///
  /// It lists the entity tags of all candidates. It carries a modification date only for a single candidate
  /// that the request matches, because a date cannot identify one of several. The client's own conditions and
  /// range are replaced, so that the answer can be stored and then be evaluated for the client. Without
  /// candidates they stay.
  ///
  /// - Parameters:
  ///   - request: the request to answer.
  ///   - stored: the candidates to validate, most recent first; empty for a miss.
  ///   - matches: whether the request matches the candidates (§4.1).
  ///   - keepsRange: whether the client's range and `If-Range` stay, because only a part is stored.
  ///   - policy: `.reloadEverywhere` tells caches on the way not to answer from their store (`no-cache`),
  ///     `.revalidate` to validate their responses (`max-age=0`).
  public static func request(
    _ request: HTTPRequest, validating stored: [StoredResponse], matches: Bool = true,
    keepsRange: Bool = false, policy: CachePolicy
  ) -> HTTPRequest {
    var conditional = request
    if !stored.isEmpty {
      conditional = withoutConditions(request)
      if keepsRange {
        // Without `If-Range` the client would get a part of a representation that it has no other part of.
        for name in [HTTPField.Name.range, .ifRange] {
          conditional.headerFields[fields: name] = request.headerFields[fields: name]
        }
      }
      addEntityTags(of: stored, to: &conditional.headerFields)
      if matches, stored.count == 1, let only = stored.first,
        case .valid = only.head.headerFields.date(.lastModified, relativeTo: only.responseTime),
        let modified = only.head.headerFields.first(.lastModified)
      {
        conditional.headerFields[.ifModifiedSince] = modified.value
      }
    }
    addDirectives(for: policy, to: &conditional.headerFields)
    return conditional
  }

  /// The request without conditions and without a range.
  static func withoutConditions(_ request: HTTPRequest) -> HTTPRequest {
    var request = request
    request.headerFields.removeAll { isConditionOrRange($0.name) }
    return request
  }

  /// Whether a validation may name a stored response that the request does not match. The origin can then
  /// tell by its strong entity tag that it is what the request selects (§4.1, §4.3.1).
  ///
  /// Excluded are:
  /// - a response without a strong tag, because nothing else confirms it;
  /// - a response whose tag another stored response of the URI has for another representation: such an origin
  ///   breaks RFC 9110 §8.8.3.3, and its tags tell nothing;
  /// - a response in a content coding that the request does not name, because an origin that uses one strong
  ///   tag for all codings would confirm it.
  ///
  /// - Parameters:
  ///   - index: the index of the stored response.
  ///   - candidates: all responses stored for the key.
  ///   - request: the request to answer.
  package static func mayName(
    mismatched index: Int, among candidates: [StoredResponse], for request: HTTPRequest
  ) -> Bool {
    let stored = candidates[index]
    guard stored.head.headerFields.hasOneStrongTag, accepts(request, codingsOf: stored) else { return false }
    return candidates.allSatisfy { other in
      other.head.headerFields[fields: .eTag] != stored.head.headerFields[fields: .eTag]
        || isSameRepresentation(other, stored)
    }
  }

  /// Whether two stored responses with equal strong tags cannot be told apart.
  static func isSameRepresentation(_ first: StoredResponse, _ second: StoredResponse) -> Bool {
    let names: [HTTPField.Name] = [
      .contentEncoding, .contentType, .contentLanguage, .contentLength, .lastModified,
    ]
    return first.isDecoded == second.isDecoded && first.head.status == second.head.status
      && names.allSatisfy { first.head.headerFields[fields: $0] == second.head.headerFields[fields: $0] }
  }

  /// Whether `Accept-Encoding` names each content coding of a stored response, or `*`, with a weight above 0
  /// (RFC 9110 §12.5.3).
  private static func accepts(_ request: HTTPRequest, codingsOf stored: StoredResponse) -> Bool {
    var isAccepted = true
    stored.head.headerFields.forEachMember(of: .contentEncoding) { coding in
      if coding.isCaseInsensitively("identity") { return }
      var isNamed = false
      var isAny = false
      var isRefused = false
      request.headerFields.forEachMember(of: .acceptEncoding) { member in
        let end = member.firstIndex { !$0.isTokenOctet } ?? member.count
        let name = member.part(0..<end)
        let weight = member.part(end..<member.count).lowercasedText.filter { $0 != " " && $0 != "\t" }
        let isZero = weight.hasPrefix(";q=0") && weight.dropFirst(4).allSatisfy { $0 == "0" || $0 == "." }
        if name.lowercasedText == coding.lowercasedText {
          if isZero { isRefused = true } else { isNamed = true }
        } else if name.count == 1, name[0] == UInt8(ascii: "*"), !isZero {
          isAny = true
        }
      }
      if isRefused || !(isNamed || isAny) { isAccepted = false }
    }
    return isAccepted
  }

  /// Whether a stored response has an entity tag or a modification date for a condition.
  public static func hasValidator(_ stored: StoredResponse) -> Bool {
    hasValidator(stored.head.headerFields, now: stored.responseTime)
  }

  static func hasValidator(_ fields: HTTPFields, now: Timestamp) -> Bool {
    if fields.withEntityTag({ $0 != nil }) { return true }
    return fields.date(.lastModified, relativeTo: now).time != nil
  }

  private static func isConditionOrRange(_ name: HTTPField.Name) -> Bool {
    switch name {
    case .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange, .range: true
    default: false
    }
  }

  private static func addEntityTags(of stored: [StoredResponse], to fields: inout HTTPFields) {
    var list: [UInt8] = []
    var seen: Set<[UInt8]> = []
    for candidate in stored where seen.count < entityTagLimit {
      guard let field = candidate.head.headerFields.first(.eTag) else { continue }
      field.withUnsafeBytesOfValue { octets in
        guard EntityTag(octets) != nil, octets.count < 1_024, seen.insert(Array(octets)).inserted
        else { return }
        if !list.isEmpty { list.append(contentsOf: ", ".utf8) }
        list.append(contentsOf: octets)
      }
    }
    if !list.isEmpty { fields[fields: .ifNoneMatch] = [HTTPField(name: .ifNoneMatch, value: list)] }
  }

  private static func addDirectives(for policy: CachePolicy, to fields: inout HTTPFields) {
    switch policy {
    case .reloadEverywhere:
      fields[.cacheControl] = combined(fields[.cacheControl], with: "no-cache")
      fields[FieldNames.pragma] = "no-cache"
    case .revalidate:
      if !fields.contains(.cacheControl) { fields[.cacheControl] = "max-age=0" }
    case .standard, .reload, .cacheElseNetwork, .cacheOnly, .bypass, .networkElseCache: break
    }
  }

  private static func combined(_ value: String?, with directive: String) -> String {
    guard let value, !value.isEmpty else { return directive }
    return value + ", " + directive
  }
}
