public import HTTPCacheSemantics
import Synchronization

extension MemoryStore {
  /// Removes what matches.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: nothing.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    if case .all = selection { forgetRefusals() }
    invalidations.note(selection)
    return removeMatching(selection) { _ in true }
  }

  /// Removes everything of a partition, and why responses were not stored, which does not tell of whom.
  ///
  /// - Throws: nothing.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    forgetRefusals()
    return try await remove(.partition(mode: mode, partition))
  }

  /// Removes what matches.
  ///
  /// - Returns: how many responses that are `counted` were removed.
  func removeMatching(_ selection: CacheSelection, counted: (CacheRecord) -> Bool) -> Int {
    var removed = 0
    for (key, _) in groups(selection) {
      change(key) { group in
        let lastUsed = group.lastUsed
        group.remove { record in
          guard selection.matches(record, lastUsed: lastUsed) else { return false }
          if counted(record) { removed += 1 }
          return true
        }
      }
    }
    compact()
    return removed
  }

  /// Marks what matches as invalidated.
  ///
  /// - Returns: the number of responses that match.
  /// - Throws: nothing.
  @discardableResult
  public func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    invalidations.note(selection)
    return invalidateMatching(selection) { _ in true }
  }

  /// Marks what matches as invalidated.
  ///
  /// - Returns: how many responses that are `counted` match.
  func invalidateMatching(_ selection: CacheSelection, counted: (CacheRecord) -> Bool) -> Int {
    var marked = 0
    for (key, _) in groups(selection) {
      change(key) { group in
        let lastUsed = group.lastUsed
        group.invalidate { record in
          guard selection.matches(record, lastUsed: lastUsed) else { return false }
          if counted(record) { marked += 1 }
          return true
        }
      }
    }
    return marked
  }

  /// Entries that match, in the order of storing.
  ///
  /// - Throws: nothing.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    listing(selection, after: cursor?.position ?? 0, limit: limit) { _ in true }
  }

  /// Entries that match and whose record is `wanted`, in the order of storing.
  func listing(
    _ selection: CacheSelection, after position: Int64, limit: Int,
    wanted: (CacheRecord) -> Bool
  ) -> EntryPage {
    let limit = max(1, limit)
    var entries: [CacheEntry] = []
    var isMore = false
    func cut() {
      entries.sort { $0.record.sequence < $1.record.sequence }
      guard entries.count > limit else { return }
      entries.removeSubrange(limit...)
      isMore = true
    }
    for (_, group) in groups(selection) {
      for (variant, cost) in group.entries
      where Int64(clamping: variant.record.sequence) > position && wanted(variant.record)
        && selection.matches(variant.record, lastUsed: group.lastUsed)
      {
        entries.append(
          CacheEntry(record: variant.record, size: cost, lastUsed: group.lastUsed, bodyPath: nil))
      }
      // What is beyond the page is dropped now and then, so that a large store makes no large list.
      if entries.count > 2 * limit + 1_024 { cut() }
    }
    cut()
    let next = entries.last.map { EntryCursor(position: Int64(clamping: $0.record.sequence)) }
    return EntryPage(entries: entries, next: isMore ? next : nil)
  }

  /// The keys with a variant that matches.
  private func groups(_ selection: CacheSelection) -> [(CacheKey, MemoryGroup)] {
    func isWanted(_ group: MemoryGroup) -> Bool {
      group.variants.contains { selection.matches($0.record, lastUsed: group.lastUsed) }
    }
    if let key = selection.key {
      guard let group = shard(of: key).state.withLock({ $0.groups[key] }), isWanted(group) else {
        return []
      }
      return [(key, group)]
    }
    return shards.flatMap { shard in
      shard.state.withLock { state in
        state.groups.compactMap { isWanted($0.value) ? ($0.key, $0.value) : nil }
      }
    }
  }
}
