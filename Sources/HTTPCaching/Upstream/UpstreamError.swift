/// Why the origin gave no complete answer.
public struct UpstreamError: Error, Sendable, CustomStringConvertible {
  /// The kind of a failure.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No connection: name not found, refused, no route.
    case unreachable
    /// No answer in time.
    case timeout
    /// The TLS handshake or the certificate failed.
    case tls
    /// The caller cancelled.
    case cancelled
    /// The answer broke the protocol, or the connection was closed before the end of the answer.
    case `protocol`
  }

  /// The kind.
  public let kind: Kind
  /// A description of the failure, for people.
  public let message: String
  /// The underlying error.
  public let cause: (any Error)?

  /// Makes an error.
  public init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
    self.kind = kind
    self.message = message
    self.cause = cause
  }

  /// Kind and message.
  public var description: String { "\(kind.rawValue): \(message)" }

  /// The error for the caller: `CancellationError` if the caller's own task was cancelled, as each other wait of a task
  /// throws. A request that something else cancelled has failed.
  var ofCaller: any Error { kind == .cancelled && Task.isCancelled ? CancellationError() : self }
}

/// The origin answered with a status that counts as a failure.
public struct OriginStatusError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The status code.
  public let status: Int

  /// Makes an error.
  public init(status: Int) { self.status = status }

  /// The status in words.
  public var description: String { "the origin answered \(status)" }
}

/// The cause of an `UpstreamError`: a response redirects further than `RequestOptions.redirectLimit` allows.
public struct RedirectLimitReached: Error, Sendable, Hashable, CustomStringConvertible {
  /// The maximum number of redirects.
  public let limit: Int

  /// Makes an error.
  public init(limit: Int) { self.limit = limit }

  /// The limit in words.
  public var description: String { "more than \(limit) redirects" }
}

/// The cause of an `UpstreamError`: the body of a response has another length than its `Content-Range` or its strong
/// validator says. None of its bytes can be trusted.
public struct LengthContradiction: Error, Sendable, Hashable, CustomStringConvertible {
  /// The length in bytes that the body must have.
  public let length: Int64

  /// Makes an error.
  public init(length: Int64) { self.length = length }

  /// The length in words.
  public var description: String { "the body does not have its \(length) bytes" }

  /// The error of a body or response that contradicts the length.
  package func error(_ message: String) -> UpstreamError { UpstreamError(.protocol, message, cause: self) }
}
