/// Usage and capacity of a store in bytes.
public struct StoreUsage: Sendable, Hashable {
  /// Bytes in memory.
  public var memoryBytes: Int64
  /// Capacity of memory in bytes.
  public var memoryCapacity: Int64
  /// Responses in memory.
  public var memoryEntries: Int
  /// Bytes on disk: index, log and bodies.
  public var diskBytes: Int64
  /// Capacity of the disk in bytes.
  public var diskCapacity: Int64
  /// Responses on disk.
  public var diskEntries: Int

  /// Makes a usage; each default is 0.
  public init(
    memoryBytes: Int64 = 0, memoryCapacity: Int64 = 0, memoryEntries: Int = 0,
    diskBytes: Int64 = 0, diskCapacity: Int64 = 0, diskEntries: Int = 0
  ) {
    self.memoryBytes = memoryBytes
    self.memoryCapacity = memoryCapacity
    self.memoryEntries = memoryEntries
    self.diskBytes = diskBytes
    self.diskCapacity = diskCapacity
    self.diskEntries = diskEntries
  }
}
