/// Why a text is not a valid pattern for targets.
public struct TargetPatternError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text.
  public let pattern: String
  /// The error, in a few words.
  public let reason: String

  /// Makes an error.
  public init(_ pattern: String, _ reason: String) {
    self.pattern = pattern
    self.reason = reason
  }

  /// The text and what is wrong with it.
  public var description: String { "'\(pattern)' is no pattern: \(reason)" }
}
