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
