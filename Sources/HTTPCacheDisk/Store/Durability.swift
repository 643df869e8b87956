/// How hard a commit is pressed to disk.
public enum Durability: Sendable, Hashable {
  /// No fsync: after power loss recent responses may be missing; checksums catch what is torn.
  case relaxed
  /// File and directory are synced before a response counts as stored.
  case durable
}
