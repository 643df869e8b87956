public import HTTPTypes

/// The targets that unsafe requests invalidate (RFC 9111 §4.4).
public enum Invalidation {
  /// The targets that the answer to a request invalidates; empty if the method is safe or the answer an error.
  ///
  /// Methods that are not known to be safe count as unsafe. `Location` and `Content-Location` count only if
  /// they are on the target's origin, and so does the `Destination` of COPY and MOVE (RFC 4918 §10.3).
  public static func targets(
    request: HTTPRequest, response: HTTPResponse
  ) -> [InvalidationTarget] {
    guard !request.method.isSafe, (200..<400).contains(response.status.code),
      let target = CacheKey.target(of: request)
    else { return [] }
    var targets = [InvalidationTarget(target: target, cause: .target)]
    let origin = TargetURI.origin(of: target)
    let copies = ["COPY", "MOVE"].contains(request.method.rawValue)
    for (field, cause) in [
      (response.headerFields.first(.location), InvalidationTarget.Cause.location),
      (response.headerFields.first(.contentLocation), .contentLocation),
      (copies ? request.headerFields.first(FieldNames.destination) : nil, .destination),
    ] {
      guard let field, let other = TargetURI.resolved(field.value, against: target),
        TargetURI.origin(of: other) == origin,
        !targets.contains(where: { $0.target == other })
      else { continue }
      targets.append(InvalidationTarget(target: other, cause: cause))
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

/// A target that a non-error response to an unsafe request invalidates (RFC 9111 §4.4).
public struct InvalidationTarget: Sendable, Hashable {
  /// Why the target is invalidated.
  public enum Cause: Sendable, Hashable {
    /// It is the target URI of the request.
    case target
    /// `Location` names it, on the same origin.
    case location
    /// `Content-Location` names it, on the same origin.
    case contentLocation
    /// The `Destination` of a COPY or MOVE names it, on the same origin (RFC 4918 §10.3).
    case destination
  }
  /// The normalised URI.
  public var target: String
  /// Why the target is invalidated.
  public var cause: Cause

  /// Makes a target.
  package init(target: String, cause: Cause) {
    self.target = target
    self.cause = cause
  }
}
