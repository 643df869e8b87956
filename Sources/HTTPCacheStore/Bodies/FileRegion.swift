/// Bytes of an open file.
public struct FileRegion: Sendable {
  /// The file descriptor; valid as long as the reader lives.
  public let descriptor: Int32
  /// The position of the first byte in the file.
  public let offset: Int64
  /// The number of bytes.
  public let count: Int64
  /// Whether every block was checked, which is required for sending without reading.
  public let isVerified: Bool

  /// Makes a region.
  public init(descriptor: Int32, offset: Int64, count: Int64, isVerified: Bool) {
    self.descriptor = descriptor
    self.offset = offset
    self.count = count
    self.isVerified = isVerified
  }
}
