/// A place in a listing.
public struct EntryCursor: Sendable, Hashable {
  /// The store's own position.
  public let position: Int64
  /// Makes a cursor.
  public init(position: Int64) { self.position = position }
}
