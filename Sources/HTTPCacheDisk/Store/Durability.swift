/// Whether commits are synced to disk.
public enum Durability: Sendable, Hashable {
  /// No fsync. Recent responses may be missing after a power loss; checksums detect torn writes.
  case relaxed
  /// Files and directories are synced before a response counts as stored.
  case durable
}
