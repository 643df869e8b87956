import HTTPCacheSemantics
import HTTPTypes

/// The presented request (RFC 9111 §4) with what follows from it alone.
///
/// An object, so that the many functions that wait during an exchange keep a reference in their frames, and not copies.
final class PresentedRequest: Sendable {
  let request: HTTPRequest
  let key: CacheKey
  /// The normalised target URI of the request; an override may use a different one in the key.
  let target: String
  let policy: CachePolicy
  let rules: CacheRules
  let hasBody: Bool
  let bodyForms: BodyForms
  let digest: SecretDigest
  /// The content of a QUERY that the cache has read.
  let content: QueryContent?
  let features: RequestFeatures
  let directives: RequestDirectives

  init(
    _ request: HTTPRequest, key: CacheKey, target: String, policy: CachePolicy, rules: CacheRules,
    hasBody: Bool, bodyForms: BodyForms, digest: @escaping SecretDigest, content: QueryContent?
  ) {
    self.request = request
    self.key = key
    self.target = target
    self.policy = policy
    self.rules = rules
    self.hasBody = hasBody
    self.bodyForms = bodyForms
    self.digest = digest
    self.content = content
    features = RequestFeatures(request.headerFields)
    directives = RequestDirectives(of: request, features: features, rules: rules)
  }
}

extension Exchange {
  var request: HTTPRequest { presented.request }
  var key: CacheKey { presented.key }
  var target: String { presented.target }
  var policy: CachePolicy { presented.policy }
  var rules: CacheRules { presented.rules }
  var hasBody: Bool { presented.hasBody }
  var bodyForms: BodyForms { presented.bodyForms }
  var digest: SecretDigest { presented.digest }
  var content: QueryContent? { presented.content }
  var features: RequestFeatures { presented.features }
  var directives: RequestDirectives { presented.directives }
}

extension HTTPRequest {
  /// This request as GET, or QUERY if it is a QUERY, without conditions, ranges and cache directives.
  ///
  /// - Parameter keepsRange: whether to keep its range.
  func unconditional(keepsRange: Bool) -> HTTPRequest {
    var request = keepsRange ? self : unranged
    if method != .query { request.method = .get }
    for name in [
      HTTPField.Name.ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
      .cacheControl, FieldNames.pragma,
    ] {
      request.headerFields[name] = nil
    }
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
