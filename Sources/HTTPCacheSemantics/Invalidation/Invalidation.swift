public import HTTPTypes

/// The targets that unsafe requests invalidate (RFC 9111 §4.4).
public enum Invalidation {
  /// The normalised target URIs that the answer to a request invalidates; empty if the method is safe or the answer an
  /// error.
  ///
  /// Methods that are not known to be safe count as unsafe. `Location` and `Content-Location` count only if
  /// they are on the target's origin, and so does the `Destination` of COPY and MOVE (RFC 4918 §10.3).
  public static func targets(request: HTTPRequest, response: HTTPResponse) -> [String] {
    guard !request.method.isSafe, (200..<400).contains(response.status.code),
      let target = CacheKey.target(of: request)
    else { return [] }
    var targets = [target]
    let origin = TargetURI.origin(of: target)
    let copies = ["COPY", "MOVE"].contains(request.method.rawValue)
    for field in [
      response.headerFields.first(.location), response.headerFields.first(.contentLocation),
      copies ? request.headerFields.first(FieldNames.destination) : nil,
    ] {
      guard let field, let other = TargetURI.resolved(field.value, against: target),
        TargetURI.origin(of: other) == origin, !targets.contains(other)
      else { continue }
      targets.append(other)
    }
    return targets
  }
}

extension HTTPRequest.Method {
  /// Whether the method is registered as safe (RFC 9110 §9.2.1, §16.1.1). A method that is not known counts as unsafe.
  package var isSafe: Bool {
    switch rawValue {
    case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH": true
    default: false
    }
  }

  /// Whether the method counts as idempotent (RFC 9110 §9.2.2): of the unsafe methods, only PUT and DELETE do. MKCOL,
  /// COPY, MOVE, UNLOCK and others are registered as idempotent (§16.1.1), and do not count.
  package var isIdempotent: Bool {
    switch rawValue {
    case "PUT", "DELETE": true
    default: isSafe
    }
  }
}
