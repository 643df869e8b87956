import HTTPCacheSemantics
import HTTPTypes

extension CacheStore {
  /// The targets, other than a target itself, under which responses for it may be stored since they
  /// had `No-Vary-Search` (draft-ietf-httpbis-no-vary-search §7). Whoever purges or invalidates a
  /// target has to do the same with these.
  ///
  /// - Parameter target: a normalised target URI.
  /// - Throws: `CacheError`.
  public func targets(equivalentTo target: String) async throws(CacheError) -> [String] {
    var found: [String] = []
    var cursor: EntryCursor?
    repeat {
      let page = try await entries(
        .target(SearchVariance.path(of: target)), after: cursor, limit: 256)
      for entry in page.entries where entry.record.key.methodClass == .searchRule {
        let other = SearchVariance(entry.record.response.head.headerFields).canonical(target)
        if other != target, !found.contains(other) { found.append(other) }
      }
      cursor = page.next
    } while cursor != nil
    return found
  }
}
