import HTTPTypes

extension HTTPRequest {
  /// The same request for GET without conditions, ranges and cache directives of its own.
  var unconditional: HTTPRequest {
    var request = self
    request.method = .get
    for name in [
      HTTPField.Name.range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
      .cacheControl,
    ] {
      request.headerFields[name] = nil
    }
    if let pragma = HTTPField.Name("Pragma") { request.headerFields[pragma] = nil }
    return request
  }
}
