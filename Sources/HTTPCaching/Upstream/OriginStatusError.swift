/// The origin answered with a status that counts as a failure.
public struct OriginStatusError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The status code.
  public let status: Int

  /// Makes an error.
  public init(status: Int) { self.status = status }

  /// The status in words.
  public var description: String { "the origin answered \(status)" }
}
