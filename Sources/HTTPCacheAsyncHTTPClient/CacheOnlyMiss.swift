#if AsyncHTTPClient
  public import HTTPCaching

  /// No stored response could answer a request whose policy forbids asking the origin.
  public struct CacheOnlyMiss: Error, Sendable, CustomStringConvertible {
    /// Why no stored response could answer.
    public let reason: UnsatisfiableReason

    /// The reason in words.
    public var description: String { "nothing stored may answer: \(reason)" }
  }
#endif
