public import Foundation

/// Why a queue cannot be opened or does not take a download.
public struct DownloadError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error. Later versions may add kinds.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String, Sendable {
      case invalidName = "invalid queue name"
      case invalidRequest = "not a request that can be downloaded"
      case invalidDestination = "invalid destination"
      case inUse = "in use"
      case notOpen = "not open"
      case noDigests = "digests are not available"
      case unavailable = "not available"
      case closed = "closed"
      case tooMany = "too many downloads"
    }
    private let kind: Kind

    /// The name of a queue has other characters than letters and digits of ASCII, `.`, `_` and `-`, begins with
    /// `.`, or is longer than 64.
    public static let invalidName = Code(kind: .invalidName)
    /// The request is not a GET of an absolute http or https URL.
    public static let invalidRequest = Code(kind: .invalidRequest)
    /// The destination is not an absolute path with a file name.
    public static let invalidDestination = Code(kind: .invalidDestination)
    /// Another queue of this name is open, in this process or in another.
    public static let inUse = Code(kind: .inUse)
    /// No process has the queue of this name open, or the file system has no pipes.
    public static let notOpen = Code(kind: .notOpen)
    /// The download has digests, and the package was built without the trait `Crypto`.
    public static let noDigests = Code(kind: .noDigests)
    /// The list cannot be read or made in the cache's directory.
    public static let unavailable = Code(kind: .unavailable)
    /// The queue was closed.
    public static let closed = Code(kind: .closed)
    /// The queue has as many downloads as it may have.
    public static let tooMany = Code(kind: .tooMany)

    /// The code in a few words.
    public var description: String { kind.rawValue }
  }

  /// The kind.
  public let code: Code
  /// The value or operation that failed, for people.
  public let message: String

  /// Makes an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Code and message.
  public var description: String { "\(code): \(message)" }
}

/// Texts for people: Foundation's default text of an error is its domain and a number.
extension DownloadError: LocalizedError {
  /// Code and message.
  public var errorDescription: String? { description }
}
