/// A message that breaks the rules of HTTP/1.1, or goes beyond a limit.
struct ProtocolViolation: Error, Sendable, CustomStringConvertible {
  /// The status of the answer when a request did it.
  let status: Int
  /// What is wrong, for people.
  let description: String

  init(_ description: String, status: Int = 400) {
    self.description = description
    self.status = status
  }
}
