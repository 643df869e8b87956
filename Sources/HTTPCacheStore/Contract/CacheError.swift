public import HTTPCacheSemantics

/// An error of the cache itself. It never fails a request: the engine treats it as a miss, or as a response
/// that is not stored, and tells the observer.
public struct CacheError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error. Later versions may add kinds.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String, Sendable {
      case io = "input/output error"
      case noSpace = "no space left"
      case notAdmitted = "worth less than the entries to evict"
      case superseded = "a more recent response is stored"
      case tooLarge = "larger than allowed"
      case damaged = "damaged"
      case newerFormat = "written by a newer version"
      case unavailable = "not available"
      case busy = "busy"
      case closed = "closed"
      case cancelled = "cancelled"
      case invalidKey = "not an encryption key"
      case invalidRequest = "not a request that can be cached"
      case invalidValue = "not a valid value"
    }
    private let kind: Kind

    /// Reading or writing failed.
    public static let io = Code(kind: .io)
    /// The file system or the capacity is full.
    public static let noSpace = Code(kind: .noSpace)
    /// The store is full, and the entries that the response would displace are worth more (`EvictionPolicy`).
    /// Thrown only while a body is being written; a small body is committed without an error, as if it had been
    /// evicted at once.
    public static let notAdmitted = Code(kind: .notAdmitted)
    /// A more recent response was stored while this one was on its way (RFC 9111 §4), and stays.
    public static let superseded = Code(kind: .superseded)
    /// The response, or the file, is larger than allowed.
    public static let tooLarge = Code(kind: .tooLarge)
    /// The stored bytes are not the bytes that were written.
    public static let damaged = Code(kind: .damaged)
    /// The directory has a format of a newer version of this library.
    public static let newerFormat = Code(kind: .newerFormat)
    /// The directory cannot be used: it is not writable, has vanished, or is not a directory. Also the code of an
    /// entry that was evicted or removed before its body was opened or completed.
    public static let unavailable = Code(kind: .unavailable)
    /// Another process held the index for too long.
    public static let busy = Code(kind: .busy)
    /// The store was closed.
    public static let closed = Code(kind: .closed)
    /// The task was cancelled while an archive, a recording or a folder was being written.
    public static let cancelled = Code(kind: .cancelled)
    /// The encryption key does not have 32 bytes.
    public static let invalidKey = Code(kind: .invalidKey)
    /// The request has no absolute URI, or an invalid one.
    public static let invalidRequest = Code(kind: .invalidRequest)
    /// A property of a configuration has a value that it cannot have.
    public static let invalidValue = Code(kind: .invalidValue)

    /// The code in a few words.
    public var description: String { kind.rawValue }
  }

  /// The kind.
  public let code: Code
  /// The operation that failed, and the system's message.
  public let message: String
  /// The underlying error.
  public let cause: (any Error)?
  /// The affected key.
  public let key: CacheKey?

  /// Makes an error.
  public init(_ code: Code, _ message: String, cause: (any Error)? = nil, key: CacheKey? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
    self.key = key
  }

  /// Code, message and key for people.
  public var description: String {
    var text = "\(code): \(message)"
    if let key { text += " (\(key.target))" }
    if let cause { text += ": \(cause)" }
    return text
  }
}
