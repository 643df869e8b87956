/// A body that a tier keeps in parts.
public struct SharedBody: Sendable, Hashable {
  /// The bytes of each part but the last. With the 28 bytes that encryption adds to a part, Redis stores it without
  /// unused memory.
  public static let partSize = 262_052
  /// A random number, chosen when the body is written.
  public let id: UInt64
  /// The length in bytes.
  public let length: Int64

  /// Names a body.
  public init(id: UInt64, length: Int64) {
    self.id = id
    self.length = length
  }

  /// The number of parts.
  public var partCount: Int {
    guard length > 0 else { return 0 }
    return Int(clamping: (length - 1) / Int64(Self.partSize) + 1)
  }

  /// The number of bytes of a part; 0 for a part that the body does not have.
  public func size(ofPart number: Int) -> Int {
    guard number >= 0, number < partCount else { return 0 }
    return Int(min(Int64(Self.partSize), length - Int64(number) * Int64(Self.partSize)))
  }
}
