public import HTTPTypes

/// The targets that unsafe requests invalidate (RFC 9111 §4.4).
public enum Invalidation {
  /// The targets that the answer to a request invalidates; empty if the method is safe or the answer an error.
  ///
  /// Methods that are not known to be safe count as unsafe. `Location` and `Content-Location` count only if
  /// they are on the target's origin.
  public static func targets(
    request: HTTPRequest, response: HTTPResponse
  ) -> [InvalidationTarget] {
    guard !isSafe(request.method), (200..<400).contains(response.status.code),
      let target = CacheKey.target(of: request)
    else { return [] }
    var targets = [InvalidationTarget(target: target, cause: .target)]
    let origin = TargetURI.origin(of: target)
    for (name, cause) in [
      (HTTPField.Name.location, InvalidationTarget.Cause.location),
      (.contentLocation, .contentLocation),
    ] {
      guard let field = response.headerFields.first(name),
        let other = TargetURI.resolved(field.value, against: target),
        TargetURI.origin(of: other) == origin,
        !targets.contains(where: { $0.target == other })
      else { continue }
      targets.append(InvalidationTarget(target: other, cause: cause))
    }
    return targets
  }

  /// Whether a method is registered as safe (RFC 9110 §9.2.1, §16.1.1).
  static func isSafe(_ method: HTTPRequest.Method) -> Bool {
    switch method.rawValue {
    case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH": true
    default: false
    }
  }
}
