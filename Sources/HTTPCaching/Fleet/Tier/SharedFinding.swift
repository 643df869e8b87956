/// The responses that a tier has for some keys.
public struct SharedFinding: Sendable {
  /// The time of the server, in milliseconds since 1970.
  public let now: Int64
  /// The variants of each key, in the order of the question.
  public let variants: [[SharedVariant]]

  /// Makes a finding.
  public init(now: Int64, variants: [[SharedVariant]]) {
    self.now = now
    self.variants = variants
  }
}
