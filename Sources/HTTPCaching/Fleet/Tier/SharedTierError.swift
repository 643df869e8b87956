/// Why a tier gave no answer.
public struct SharedTierError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of a failure.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No connection, or it broke.
    case unreachable
    /// No answer within the deadline.
    case timeout
    /// The server refuses for now: loading, read-only, out of memory, no master. Also for a question with time left whose
    /// connection was closed because another question on it got no answer in time.
    case unavailable
    /// The server refuses for good: credentials, permissions, a command that it does not know.
    case refused
    /// The answer broke the protocol.
    case `protocol`
  }

  /// The kind.
  public let kind: Kind
  /// A description of the failure, for people.
  public let message: String

  /// Makes an error.
  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// Kind and message.
  public var description: String { "\(kind.rawValue): \(message)" }
}
