import HTTPTypes

extension HTTPResponse.Status {
  /// Whether a response with this status never has content (RFC 9112 §6.3).
  var hasNoContent: Bool { code == 204 || code == 304 || kind == .informational }
}
