#if AsyncHTTPClient
  public import HTTPCaching

  /// Nothing stored could answer a request whose policy forbids asking the origin.
  public struct CacheOnlyMiss: Error, Sendable, CustomStringConvertible {
    /// Why nothing stored could.
    public let reason: UnsatisfiableReason

    /// The reason in words.
    public var description: String { "nothing stored may answer: \(reason)" }
  }
#endif
