public import HTTPCacheStore

/// A change that all nodes make.
public struct SharedChange: Sendable, Hashable {
  /// The kind of a change. A node takes a kind that it does not know as an invalidation of everything.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Remove the entries.
    case remove
    /// Invalidate the entries (RFC 9111 §4.4).
    case invalidate
    /// End the lifetime of the entries (`CacheStore.mark`).
    case expire
    /// Remove all entries of a partition, and leave no byte of them.
    case wipe
  }

  /// Names the change, however often it is added: unique among all changes of all nodes.
  public let uid: String
  /// The kind of the change.
  public let kind: Kind
  /// The entries that the change concerns.
  public let selection: CacheSelection

  /// Makes a change.
  public init(uid: String, kind: Kind, selection: CacheSelection) {
    self.uid = uid
    self.kind = kind
    self.selection = selection
  }

  /// The classes of scopes whose positions the change raises: see `SharedScopes`.
  public var scopeClasses: [Int] { SharedScopes.classes(of: selection) }
}
