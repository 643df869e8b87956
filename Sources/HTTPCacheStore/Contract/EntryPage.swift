/// A part of a listing.
public struct EntryPage: Sendable {
  /// The entries.
  public let entries: [CacheEntry]
  /// Where the next part starts; nil at the end.
  public let next: EntryCursor?

  /// Makes a page.
  public init(entries: [CacheEntry], next: EntryCursor?) {
    self.entries = entries
    self.next = next
  }
}
