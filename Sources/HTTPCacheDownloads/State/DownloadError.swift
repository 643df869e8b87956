public import Foundation

/// Why a queue cannot be opened or does not take a download.
public struct DownloadError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error. Later versions may add kinds.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code in a few words.
    public let description: String

    /// The name of a queue has other characters than letters and digits of ASCII, `.`, `_` and `-`, begins with
    /// `.`, or is longer than 64.
    public static let invalidName = Code(description: "invalid queue name")
    /// The request is not a GET of an absolute http or https URL.
    public static let invalidRequest = Code(description: "not a request that can be downloaded")
    /// The destination is not an absolute path with a file name.
    public static let invalidDestination = Code(description: "invalid destination")
    /// A download of another URL that has not ended goes to this destination.
    public static let destinationInUse = Code(description: "destination in use")
    /// Another queue of this name is open, in this process or in another.
    public static let inUse = Code(description: "in use")
    /// No process has the queue of this name open, or the file system has no pipes.
    public static let notOpen = Code(description: "not open")
    /// The download has digests, and the package was built without the trait `Crypto`.
    public static let noDigests = Code(description: "digests are not available")
    /// The list cannot be read or made in the cache's directory.
    public static let unavailable = Code(description: "not available")
    /// The queue was closed.
    public static let closed = Code(description: "closed")
    /// The queue has as many downloads as it may have.
    public static let tooMany = Code(description: "too many downloads")
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
