public import HTTPTypes

/// Conditional requests that ask whether stored responses are still right (RFC 9111 §4.3.1).
public enum Validation {
  /// The most entity tags that one request lists.
  public static let entityTagLimit = 32

  /// Makes the request to forward.
  ///
  /// It lists the entity tags of all candidates; the modification date only of a single one that the
  /// request matches, since no date confirms another one. The
  /// client's own conditions and range are replaced, so that the answer can be stored and be
  /// evaluated for the client afterwards. Without candidates they stay.
  ///
  /// - Parameters:
  ///   - request: the request to be answered.
  ///   - stored: the candidates to validate, most recent first; empty for a plain miss.
  ///   - matches: whether the request matches the candidates (§4.1).
  ///   - keepsRange: whether the client's range stays, since only a part is stored.
  ///   - policy: `.reloadEverywhere` tells the caches on the way not to answer from their store
  ///     (`no-cache`), `.revalidate` to validate theirs (`max-age=0`).
  public static func request(
    _ request: HTTPRequest, validating stored: [StoredResponse], matches: Bool = true,
    keepsRange: Bool = false, policy: CachePolicy
  ) -> HTTPRequest {
    var conditional = request
    if !stored.isEmpty {
      let range = keepsRange ? request.headerFields[fields: .range] : []
      conditional = withoutConditions(request)
      conditional.headerFields.append(contentsOf: range)
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

  /// The request without conditions of its own and without a range.
  static func withoutConditions(_ request: HTTPRequest) -> HTTPRequest {
    var request = request
    request.headerFields.removeAll { isConditionOrRange($0.name) }
    return request
  }

  /// Whether a validation may name a stored response that the request does not match, so that the
  /// origin can tell by its strong entity tag that it is what the request selects (§4.1, §4.3.1).
  ///
  /// Not one without a strong tag, since nothing else confirms it. Not one whose tag another stored
  /// response of the same URI has too, though it is another representation: such an origin breaks
  /// RFC 9110 §8.8.3.3, and its tags tell nothing. Not one in a content coding that the request does not
  /// name, which an origin that uses one strong tag for all codings would confirm.
  ///
  /// - Parameters:
  ///   - index: the stored response.
  ///   - candidates: all that are stored for the key.
  ///   - request: the request to be answered.
  package static func mayName(
    mismatched index: Int, among candidates: [StoredResponse], for request: HTTPRequest
  ) -> Bool {
    let stored = candidates[index]
    guard hasOneStrongTag(stored), accepts(request, codingsOf: stored) else { return false }
    return candidates.allSatisfy { other in
      other.head.headerFields[fields: .eTag] != stored.head.headerFields[fields: .eTag]
        || isSameRepresentation(other, stored)
    }
  }

  /// Whether nothing tells two stored responses of one strong tag apart.
  static func isSameRepresentation(_ first: StoredResponse, _ second: StoredResponse) -> Bool {
    let names: [HTTPField.Name] = [
      .contentEncoding, .contentType, .contentLanguage, .contentLength, .lastModified,
    ]
    return first.isDecoded == second.isDecoded && first.head.status == second.head.status
      && names.allSatisfy { first.head.headerFields[fields: $0] == second.head.headerFields[fields: $0] }
  }

  private static func hasOneStrongTag(_ stored: StoredResponse) -> Bool {
    let fields = stored.head.headerFields
    return fields[fields: .eTag].count == 1
      && fields.withEntityTag { $0.map { !$0.isWeak } ?? false }
  }

  /// Whether `Accept-Encoding` names each content coding of a stored response, or `*`, and not with
  /// the weight 0 (RFC 9110 §12.5.3).
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

  /// Whether a stored response has an entity tag or a modification date to ask with.
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
    if !list.isEmpty { fields.append(HTTPField(name: .ifNoneMatch, value: list)) }
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
