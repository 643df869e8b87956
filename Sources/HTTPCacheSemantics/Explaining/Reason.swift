/// Why a decision fell as it did: a sentence for people and the section it follows.
public protocol Reason: Sendable, CustomStringConvertible {
  /// The section, such as `RFC 9111 §5.2.2.5`; empty where a setting of the cache decided.
  var section: String { get }
}
