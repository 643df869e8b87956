/// The reason of a decision: a sentence for people, and the section of the rule.
public protocol Reason: Sendable, CustomStringConvertible {
  /// The section, such as `RFC 9111 §5.2.2.5`; empty if a setting of the cache decided.
  var section: String { get }
}
