/// A message that breaks the rules of HTTP/1.1, or exceeds a limit.
struct ProtocolViolation: Error, Sendable, CustomStringConvertible {
  /// The status of the response to a request with this violation.
  let status: Int
  /// The violation, as a message.
  let description: String

  init(_ description: String, status: Int = 400) {
    self.description = description
    self.status = status
  }
}
