import HTTPCacheSemantics
import HTTPTypes

extension CacheStore {
  /// The other targets under which responses for a target may be stored, because they had `No-Vary-Search`
  /// (draft-ietf-httpbis-no-vary-search §7) or named a cache item (`CacheAlias`). A caller that removes or
  /// invalidates the target must do so for these targets, too.
  ///
  /// - Parameter target: a normalised target URI.
  /// - Throws: `CacheError`.
  public func targets(equivalentTo target: String) async throws(CacheError) -> [String] {
    var found: [String] = []
    for listed in Set([SearchVariance.path(of: target), target]) {
      var cursor: EntryCursor?
      repeat {
        let page = try await entries(.target(listed), after: cursor, limit: 256)
        for record in page.entries.map(\.record) {
          guard let other = equivalent(to: target, by: record), other != target,
            !found.contains(other)
          else { continue }
          found.append(other)
        }
        cursor = page.next
      } while cursor != nil
    }
    return found
  }

  private func equivalent(to target: String, by record: CacheRecord) -> String? {
    switch record.key.methodClass {
    case .searchRule:
      SearchVariance(record.response.head.headerFields).canonical(target)
    case .pointer: record.key.target == target ? record.item : nil
    case .get, .query: nil
    }
  }
}

extension CacheRecord {
  /// The key target of the cache item that a pointer names; nil if the record is not a pointer.
  package var item: String? {
    guard key.methodClass == .pointer, let field = response.head.headerFields.first,
      case .item(let target) = CacheAlias.read(
        field.name, in: response.head.headerFields, target: key.target)
    else { return nil }
    return target
  }
}
