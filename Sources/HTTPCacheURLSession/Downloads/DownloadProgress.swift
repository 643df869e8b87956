/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
  /// Bytes in the file.
  public let received: Int64
  /// The expected length in bytes; nil if unknown before the end.
  public let expected: Int64?

  /// Makes a progress.
  public init(received: Int64, expected: Int64?) {
    self.received = received
    self.expected = expected
  }

  /// The completed share, from 0 to 1; nil if the length is unknown.
  public var fraction: Double? {
    guard let expected else { return nil }
    return expected == 0 ? 1 : Double(received) / Double(expected)
  }
}
