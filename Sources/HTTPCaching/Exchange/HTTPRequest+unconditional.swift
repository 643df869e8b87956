import HTTPTypes

extension HTTPRequest {
  /// The same request for GET, or QUERY if it is one, without conditions, ranges and cache directives
  /// of its own.
  ///
  /// - Parameter keepsRange: whether its range stays.
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

  /// The same request for all of the representation.
  var unranged: HTTPRequest {
    var request = self
    request.headerFields[.range] = nil
    request.headerFields[.ifRange] = nil
    return request
  }
}
