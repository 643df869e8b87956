/// How far a download has come.
public struct DownloadProgress: Sendable, Hashable {
  /// Bytes that are in the file.
  public let received: Int64
  /// Bytes that there will be; nil if that is not known before the end.
  public let expected: Int64?

  /// Makes one.
  public init(received: Int64, expected: Int64?) {
    self.received = received
    self.expected = expected
  }

  /// The part of the whole that is there, from 0 to 1; nil if the whole is not known.
  public var fraction: Double? {
    guard let expected else { return nil }
    return expected == 0 ? 1 : Double(received) / Double(expected)
  }
}
