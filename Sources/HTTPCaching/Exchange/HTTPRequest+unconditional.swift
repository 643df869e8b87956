import HTTPTypes

extension HTTPRequest {
  /// This request as GET, or QUERY if it is a QUERY, without conditions, ranges and cache directives.
  ///
  /// - Parameter keepsRange: whether to keep its range.
  func unconditional(keepsRange: Bool) -> HTTPRequest {
    var request = keepsRange ? self : unranged
    if method != .query { request.method = .get }
    for name in [
      HTTPField.Name.ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
      .cacheControl,
    ] {
      request.headerFields[name] = nil
    }
    if let pragma = HTTPField.Name("Pragma") { request.headerFields[pragma] = nil }
    return request
  }

  /// This request for the whole representation.
  var unranged: HTTPRequest {
    var request = self
    request.headerFields[.range] = nil
    request.headerFields[.ifRange] = nil
    return request
  }
}

extension HTTPResponse.Status {
  /// Whether a response with this status never has content (RFC 9112 §6.3).
  var hasNoContent: Bool { code == 204 || code == 304 || kind == .informational }
}
