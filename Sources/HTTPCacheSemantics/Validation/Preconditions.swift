public import HTTPTypes

/// Evaluates the conditions of a request against the stored response that answers it
/// (RFC 9111 §4.3.2, RFC 9110 §13.2.2).
public enum Preconditions {
  /// Decides whether the request's own conditions turn the stored response into a 304.
  ///
  /// `If-None-Match` has priority over `If-Modified-Since`. For a response without `Last-Modified`, its
  /// `Date` is compared, or the time of its arrival (§4.3.2).
  ///
  /// - Parameters:
  ///   - request: GET or HEAD; conditions of other methods are for the origin.
  ///   - stored: the response that would be sent without conditions; they apply to 200 and 206.
  ///   - now: the time, for the `Age` of the 304.
  /// - Returns: the head of the 304 (RFC 9110 §15.4.5); nil if the conditions do not make one, and with `If-Match` or
  ///   `If-Unmodified-Since`, which only the origin may evaluate.
  public static func evaluate(
    _ request: HTTPRequest, stored: StoredResponse, now: Timestamp
  ) -> HTTPResponse? {
    evaluate(
      request, features: RequestFeatures(request.headerFields), stored: stored, now: now)
  }

  /// Like `evaluate(_:stored:now:)`, for a request with known features.
  package static func evaluate(
    _ request: HTTPRequest, features: RequestFeatures, stored: StoredResponse, now: Timestamp
  ) -> HTTPResponse? {
    if features.isDisjoint(with: [.conditions, .originConditions]) { return nil }
    var hasNoneMatch = false
    var hasModifiedSince = false
    for field in request.headerFields {
      switch field.name {
      case .ifMatch, .ifUnmodifiedSince: return nil
      case .ifNoneMatch: hasNoneMatch = true
      case .ifModifiedSince: hasModifiedSince = true
      default: break
      }
    }
    guard hasNoneMatch || hasModifiedSince, [.get, .head, .query].contains(request.method),
      stored.head.status.code == 200 || stored.head.status.code == 206
    else { return nil }
    let isUnmodified =
      hasNoneMatch
      ? matchesAny(request.headerFields, of: stored.head.headerFields)
      : request.method != .query && isUnmodifiedSince(request.headerFields, stored: stored, now: now)
    return isUnmodified ? notModifiedHead(stored, now: now) : nil
  }

  /// Whether `If-None-Match` is false: it is `*`, or one of its tags matches the response's by weak comparison
  /// (RFC 9110 §13.1.2).
  package static func matchesAny(_ fields: HTTPFields, of response: HTTPFields) -> Bool {
    let lines = fields.lazy.filter { $0.name == .ifNoneMatch }
    if let only = lines.first, only.withUnsafeBytesOfValue({ $0.trimmed().isCaseInsensitively("*") }) {
      return lines.dropFirst().isEmpty
    }
    return response.withEntityTag { tag in
      guard let tag else { return false }
      var matches = false
      fields.forEachEntityTag(in: .ifNoneMatch) { matches = matches || $0.matchesWeakly(tag) }
      return matches
    }
  }

  /// Whether `If-Modified-Since` is false. It is ignored if repeated (RFC 9110 §13.1.3), and in a QUERY, for
  /// which RFC 10008 §2.6 refers to that section.
  private static func isUnmodifiedSince(
    _ fields: HTTPFields, stored: StoredResponse, now: Timestamp
  ) -> Bool {
    guard fields.only(.ifModifiedSince) != nil,
      let since = fields.date(.ifModifiedSince, relativeTo: now).time
    else { return false }
    let modified = stored.head.headerFields.date(.lastModified, relativeTo: stored.responseTime)
    return (modified.time ?? stored.date) <= since
  }

  /// The head of the 304 (RFC 9110 §15.4.5), with the `Age` of a response from a store.
  private static func notModifiedHead(_ stored: StoredResponse, now: Timestamp) -> HTTPResponse {
    let fields = stored.head.headerFields
    let hasTag = fields.contains(.eTag)
    var kept = HTTPFields()
    for field in fields {
      switch field.name {
      case .contentLocation, .date, .eTag, .vary, .cacheControl, .expires: kept.append(field)
      case .lastModified where !hasTag: kept.append(field)
      default: break
      }
    }
    kept[.age] = String(Age.current(stored, now: now))
    return HTTPResponse(status: .notModified, headerFields: kept)
  }
}
