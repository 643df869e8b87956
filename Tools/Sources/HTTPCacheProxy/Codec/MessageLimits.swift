/// How large a message's head and trailers may be.
public struct MessageLimits: Sendable, Hashable {
  /// The most bytes of a head, and of trailers.
  public var headBytes: Int
  /// The most fields of a head, and of trailers.
  public var fieldCount: Int
  /// The most bytes of a request target.
  public var targetBytes: Int

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - headBytes: the most bytes of a head, and of trailers.
  ///   - fieldCount: the most fields of a head, and of trailers.
  ///   - targetBytes: the most bytes of a request target.
  public init(headBytes: Int = 64 << 10, fieldCount: Int = 200, targetBytes: Int = 16 << 10) {
    self.headBytes = headBytes
    self.fieldCount = fieldCount
    self.targetBytes = targetBytes
  }
}
