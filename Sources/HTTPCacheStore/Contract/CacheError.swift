public import HTTPCacheSemantics

/// An error of the cache itself. It never fails a request: the engine treats it as a miss, or as a response
/// that is not stored, and tells the observer.
public struct CacheError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error. Later versions may add kinds.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code in a few words.
    public let description: String

    /// Reading or writing failed.
    public static let io = Code(description: "input/output error")
    /// The file system or the capacity is full.
    public static let noSpace = Code(description: "no space left")
    /// The store is full, and the entries that the response would displace are worth more (`EvictionPolicy`).
    /// Thrown only while a body is being written; a small body is committed without an error, as if it had been
    /// evicted at once.
    public static let notAdmitted = Code(description: "worth less than the entries to evict")
    /// A more recent response was stored while this one was on its way (RFC 9111 §4), and stays.
    public static let superseded = Code(description: "a more recent response is stored")
    /// The partition was wiped while the response was on its way (`CacheStore.wipe`).
    public static let wiped = Code(description: "the partition was wiped")
    /// The response, or the file, is larger than allowed.
    public static let tooLarge = Code(description: "larger than allowed")
    /// The stored bytes are not the bytes that were written.
    public static let damaged = Code(description: "damaged")
    /// The directory has a format of a newer version of this library.
    public static let newerFormat = Code(description: "written by a newer version")
    /// The directory cannot be used: it is not writable, has vanished, or is not a directory. Also the code of an
    /// entry that was evicted or removed before its body was opened or completed.
    public static let unavailable = Code(description: "not available")
    /// Another process held the index for too long.
    public static let busy = Code(description: "busy")
    /// The store was closed.
    public static let closed = Code(description: "closed")
    /// The task was cancelled while an archive, a recording or a folder was being written.
    public static let cancelled = Code(description: "cancelled")
    /// The encryption key does not have 32 bytes.
    public static let invalidKey = Code(description: "not an encryption key")
    /// The request has no absolute URI, or an invalid one.
    public static let invalidRequest = Code(description: "not a request that can be cached")
    /// A property of a configuration has a value that it cannot have.
    public static let invalidValue = Code(description: "not a valid value")
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

extension CacheError {
  /// The partition of a key was wiped while a response to it was on its way.
  package static func wiped(_ key: CacheKey) -> CacheError {
    CacheError(.wiped, "while the response was on its way", key: key)
  }
}
