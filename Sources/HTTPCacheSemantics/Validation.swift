public import HTTPTypes

/// Conditional requests that ask whether stored responses are still right (RFC 9111 §4.3.1).
public enum Validation {
  /// The most entity tags that one request lists.
  public static let entityTagLimit = 32

  /// Makes the request to forward.
  ///
  /// It lists the entity tags of all candidates; the modification date only of a single one. The
  /// client's own conditions and range are replaced, so that the answer can be stored and be
  /// evaluated for the client afterwards. Without candidates they stay.
  ///
  /// - Parameters:
  ///   - request: the request to be answered.
  ///   - stored: the candidates to validate, most recent first; empty for a plain miss.
  ///   - keepsRange: whether the client's range stays, since only a part is stored.
  ///   - policy: `.reloadEverywhere` tells the caches on the way not to answer from their store
  ///     (`no-cache`), `.revalidate` to validate theirs (`max-age=0`).
  public static func request(
    _ request: HTTPRequest, validating stored: [StoredResponse], keepsRange: Bool = false,
    policy: CachePolicy
  ) -> HTTPRequest {
    var conditional = request
    if !stored.isEmpty {
      let range = keepsRange ? request.headerFields[fields: .range] : []
      conditional = withoutConditions(request)
      conditional.headerFields.append(contentsOf: range)
      addEntityTags(of: stored, to: &conditional.headerFields)
      if stored.count == 1, let only = stored.first,
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
