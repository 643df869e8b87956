public import HTTPTypes

/// A request field that `Vary` nominated, with the value the stored response was selected by
/// (RFC 9111 §4.1).
public struct NominatedField: Sendable, Hashable {
  /// The value in the original request.
  public enum Value: Sendable, Hashable {
    /// The request had no such field.
    case absent
    /// The value, normalised if the rules say so.
    case text(String)
    /// A keyed digest of a value that must not be stored, such as a `Cookie`.
    case digest([UInt8])
  }

  /// The nominated field.
  public var name: HTTPField.Name
  /// Its value in the request that the response answered.
  public var value: Value

  /// Makes a nominated field.
  public init(name: HTTPField.Name, value: Value) {
    self.name = name
    self.value = value
  }
}

/// Turns the value of a secret request field into a keyed digest; nil if no cryptography is available (the
/// response is then not stored).
public typealias SecretDigest = @Sendable (_ value: String) -> [UInt8]?

/// The fields that the `Vary` of a response nominates (RFC 9111 §4.1).
package enum NominationResult: Sendable, Hashable {
  /// The fields it nominates, with their values in the request; none without `Vary`.
  case fields([NominatedField])
  /// `*`: the response can never be selected.
  case any
  /// It nominates this secret field, and no digest is available to store instead.
  case secretWithoutDigest(HTTPField.Name)
  /// It contains text that is not a field name, or too many names.
  case malformed
}
