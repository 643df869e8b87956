import HTTPTypes

/// How large a message's head and trailers may be.
public struct MessageLimits: Sendable, Hashable {
  /// Maximum bytes of a head, and of trailers.
  public var headBytes: Int
  /// Maximum number of fields of a head, and of trailers.
  public var fieldCount: Int
  /// Maximum bytes of a request target.
  public var targetBytes: Int

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - headBytes: maximum bytes of a head, and of trailers.
  ///   - fieldCount: maximum number of fields of a head, and of trailers.
  ///   - targetBytes: maximum bytes of a request target.
  public init(headBytes: Int = 64 << 10, fieldCount: Int = 200, targetBytes: Int = 16 << 10) {
    self.headBytes = headBytes
    self.fieldCount = fieldCount
    self.targetBytes = targetBytes
  }
}

/// A message that breaks the rules of HTTP/1.1, or exceeds a limit.
struct ProtocolViolation: Error, Sendable, CustomStringConvertible {
  /// The status of the response to a request with this violation.
  let status: HTTPResponse.Status
  /// The violation, as a message.
  let description: String

  init(_ description: String, status: HTTPResponse.Status = .badRequest) {
    self.description = description
    self.status = status
  }
}
