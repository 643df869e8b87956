import HTTPCacheFiles
import HTTPCacheStore

/// The limits of a directory. They are stored in its index and apply to each process that opens it.
public struct DirectorySettings: Sendable, Hashable {
  /// The maximum usage on disk, in bytes.
  public var capacity: Int64
  /// Bytes to keep free on the file system; 0 disables the check.
  public var minimumFreeSpace: Int64

  /// Makes settings. The default values are those of a new directory: a capacity of 1 GiB, and 128 MiB free.
  public init(
    capacity: Int64 = 1 << 30, minimumFreeSpace: Int64 = DiskStore.defaultMinimumFreeSpace
  ) {
    self.capacity = max(0, capacity)
    self.minimumFreeSpace = max(0, minimumFreeSpace)
  }

  /// Settings to change; nil leaves a setting as it is in the directory.
  struct Changes: Sendable {
    var capacity: Int64?
    var minimumFreeSpace: Int64?

    var isEmpty: Bool { capacity == nil && minimumFreeSpace == nil }
  }

  /// The settings after some changes.
  func changed(by changes: Changes) -> DirectorySettings {
    DirectorySettings(
      capacity: changes.capacity ?? capacity,
      minimumFreeSpace: changes.minimumFreeSpace ?? minimumFreeSpace)
  }
}

/// The settings in the table `meta` of the index.
extension DirectorySettings {
  /// An SQL expression for the capacity; NULL if the index has no value or an impossible value.
  static let selectingCapacity = selecting("capacity")

  private static func selecting(_ name: String) -> String {
    "(SELECT value FROM meta WHERE name = '\(name)' AND typeof(value) = 'integer' AND value >= 0)"
  }

  /// Reads the settings. A missing value has the default of a new directory.
  init(_ connection: SQLiteConnection) throws(CacheError) {
    self.init()
    capacity = try connection.number("SELECT \(Self.selectingCapacity)") ?? capacity
    minimumFreeSpace = try connection.number("SELECT \(Self.selecting("minimumFree"))") ?? minimumFreeSpace
  }

  /// Writes the settings, within a transaction.
  func save(_ connection: SQLiteConnection) throws(CacheError) {
    for (name, value) in [("capacity", capacity), ("minimumFree", minimumFreeSpace)] {
      try connection.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", [.text(name), .integer(value)])
    }
  }
}
