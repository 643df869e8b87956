/// The usage of a directory by kind, in bytes.
public struct DiskUsage: Sendable, Hashable {
  /// The index: records, inline bodies, and the indexes of SQLite.
  public let index: Int64
  /// The log of the index.
  public let log: Int64
  /// Body files, whole and partial.
  public let bodies: Int64
  /// Reservations: bodies that this store is writing.
  public let writing: Int64
  /// Counters, folders, and damaged indexes that were set aside.
  public let other: Int64
  /// The capacity of the directory.
  public let capacity: Int64
  let entries: Int

  /// The sum.
  public var total: Int64 { index + log + bodies + writing + other }
}
