public import HTTPTypes

/// The effect of a request's own preconditions on a stored response (RFC 9111 §4.3.2).
public enum PreconditionResult: Sendable, Hashable {
  /// Send the stored response.
  case proceed
  /// Send 304 with this head (RFC 9110 §15.4.5).
  case notModified(HTTPResponse)
  /// Only the origin may evaluate it: `If-Match`, `If-Unmodified-Since`.
  case forward(HTTPField.Name)
}
