/// Bytes of an open file.
public struct FileRegion: Sendable {
  /// The file descriptor; valid as long as the reader lives.
  public let descriptor: Int32
  /// Where the bytes start in the file.
  public let offset: Int64
  /// How many bytes.
  public let count: Int64
  /// Whether every block was checked, which sending without reading requires.
  public let isVerified: Bool

  /// Makes a region.
  public init(descriptor: Int32, offset: Int64, count: Int64, isVerified: Bool) {
    self.descriptor = descriptor
    self.offset = offset
    self.count = count
    self.isVerified = isVerified
  }
}
