public import HTTPCacheSemantics
import Synchronization

extension MemoryStore {
  /// Removes the entries that match.
  ///
  /// - Returns: the number of responses removed.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    if case .all = selection { forgetRefusals() }
    changes.note(selection)
    return removeMatching(selection, countsCopies: true)
  }

  /// Removes all entries of a partition, and all notes about refusals, because a note does not name its
  /// partition.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    changes.noteWipe(mode: mode, partition: partition)
    forgetRefusals()
    return try await remove(.partition(mode: mode, partition))
  }

  /// Removes the entries that match.
  ///
  /// - Parameter countsCopies: whether copies of responses of the store below count.
  /// - Returns: the number of responses removed.
  func removeMatching(_ selection: CacheSelection, countsCopies: Bool) -> Int {
    defer { compact() }
    return changeMatching(selection, countsCopies) { group, matches in group.remove(where: matches) }
  }

  /// Invalidates the entries that match, or ends their lifetime.
  ///
  /// - Returns: the number of responses that match.
  @discardableResult
  public func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    changes.note(selection)
    return markMatching(selection, as: mark, countsCopies: true)
  }

  /// Marks the entries that match.
  ///
  /// - Parameter countsCopies: whether copies of responses of the store below count.
  /// - Returns: the number of responses that match.
  func markMatching(_ selection: CacheSelection, as mark: StoredResponse.Mark, countsCopies: Bool) -> Int {
    changeMatching(selection, countsCopies) { group, matches in group.mark(as: mark, where: matches) }
  }

  private func changeMatching(
    _ selection: CacheSelection, _ countsCopies: Bool,
    change: (inout MemoryGroup, _ matches: (CacheRecord) -> Bool) -> Void
  ) -> Int {
    var count = 0
    for (key, _) in groups(selection) {
      self.change(key) { group in
        let lastUsed = group.lastUsed
        change(&group) { record in
          guard selection.matches(record, lastUsed: lastUsed) else { return false }
          if countsCopies || record.isMemoryOnly { count += 1 }
          return true
        }
      }
    }
    return count
  }

  /// The entries that match, in the order of storing.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    listing(selection, after: cursor?.position ?? 0, limit: limit) { _ in true }
  }

  /// The entries that match and whose record is `wanted`, in the order of storing.
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
      // Entries beyond the page are dropped now and then, so that a large store does not make a large list.
      if entries.count > 2 * limit + 1_024 { cut() }
    }
    cut()
    let next = entries.last.map { EntryCursor(position: Int64(clamping: $0.record.sequence)) }
    return EntryPage(entries: entries, next: isMore ? next : nil)
  }

  /// The keys with a variant that matches.
  func groups(_ selection: CacheSelection) -> [(CacheKey, MemoryGroup)] {
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
        if let candidates = state.candidates(for: selection) { return candidates.filter { isWanted($0.1) } }
        return state.groups.compactMap { isWanted($0.value) ? ($0.key, $0.value) : nil }
      }
    }
  }
}
