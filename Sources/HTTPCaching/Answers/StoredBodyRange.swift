public import HTTPCacheStore

/// A range of a stored body that can be sent straight from its file or from memory.
public struct StoredBodyRange: Sendable {
  /// The open body.
  public let reader: any BodyReader
  /// The bytes of the body that make up the message body.
  public let range: Range<Int64>

  /// Makes a range.
  public init(reader: any BodyReader, range: Range<Int64>) {
    self.reader = reader
    self.range = range
  }
}
