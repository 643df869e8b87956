/// Whether commits are synced to disk.
public enum Durability: Sendable, Hashable {
  /// No fsync. Recent responses may be missing after a power loss; checksums detect torn writes.
  case relaxed
  /// Files and directories are synced before a response counts as stored.
  case durable
}

/// When the checksums of stored blocks are checked.
public enum Verification: Sendable, Hashable {
  /// On a block's first read after the body was opened.
  case firstRead
  /// On every read.
  case everyRead
}

extension DiskStore {
  /// The choices of a store that programs rarely change. Each process has options of its own.
  public struct Options: Sendable, Hashable {
    /// Whether a commit is synced to disk.
    public var durability: Durability
    /// When checksums of stored blocks are checked.
    public var verification: Verification
    /// Whether the store evicts entries. With false, opening evicts nothing, for a program that only reads.
    public var evicts: Bool

    /// Makes options.
    public init(
      durability: Durability = .relaxed, verification: Verification = .firstRead, evicts: Bool = true
    ) {
      self.durability = durability
      self.verification = verification
      self.evicts = evicts
    }
  }
}
