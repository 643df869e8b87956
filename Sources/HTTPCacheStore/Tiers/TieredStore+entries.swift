public import HTTPCacheSemantics
import Synchronization

extension TieredStore {
  /// Removes the entries that match, from memory and the store below.
  ///
  /// - Returns: the number of responses removed; copies do not count.
  /// - Throws: what the store below throws; the entries are then removed from memory nevertheless.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    try await remove(selection) { (base) throws(CacheError) in try await base.remove(selection) }
  }

  /// Removes all entries of a partition from memory and the store below, and their bytes from the files.
  ///
  /// - Throws: what the store below throws; the entries are then removed from memory nevertheless.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    try await remove(.partition(mode: mode, partition)) { (base) throws(CacheError) in
      try await base.wipe(mode: mode, partition: partition)
    }
  }

  private func remove(
    _ selection: CacheSelection, below: (any CacheStore) async throws(CacheError) -> Int
  ) async throws(CacheError) -> Int {
    tellBase()
    let removed: Result<Int, CacheError>
    do throws(CacheError) { removed = .success(try await below(base)) } catch { removed = .failure(error) }
    raiseGenerations(of: selection, isTold: (try? removed.get()) != nil)
    let own = memory.removeMatching(selection, countsCopies: false)
    return try removed.get() + own
  }

  /// Makes copies of responses out of date that were invalidated or removed.
  ///
  /// - Parameter isTold: whether the store below has done it.
  private func raiseGenerations(of selection: CacheSelection, isTold: Bool) {
    if let key = selection.key {
      raiseGeneration(of: key)
    } else if !isTold || baseGenerations?.tellsOfChanges != true {
      ownGenerations.raiseAll()
    }
  }

  /// Evicts from memory.
  public func trimMemory(to bytes: Int64) {
    memory.trimMemory(to: bytes)
    base.trimMemory(to: bytes)
  }

  /// Invalidates the entries that match in memory and the store below, or ends their lifetime.
  ///
  /// - Returns: the number of responses that match, or nil if the store below does not count.
  /// - Throws: what the store below throws; the entries are then marked in memory nevertheless.
  @discardableResult
  public func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    tellBase()
    let below: Result<Int?, CacheError>
    do { below = .success(try await base.mark(selection, as: mark)) } catch { below = .failure(error) }
    if case .success = below { raiseGenerations(of: selection, isTold: true) }
    let own = memory.markMatching(selection, as: mark, countsCopies: false)
    return try below.get().map { $0 + own }
  }

  /// The entries of the store below, then those that are only in memory.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    let limit = max(1, limit)
    tellBase()
    if let cursor, cursor.position < 0 {
      return ownEntries(selection, after: -(cursor.position + 1), limit: limit)
    }
    let below = try await base.entries(selection, after: cursor, limit: limit)
    guard below.next == nil else { return below }
    let rest = limit - below.entries.count
    let own = ownEntries(selection, after: 0, limit: max(1, rest))
    if own.entries.isEmpty { return below }
    // Negative positions are in memory, counted down.
    guard rest > 0 else { return EntryPage(entries: below.entries, next: EntryCursor(position: -1)) }
    return EntryPage(entries: below.entries + own.entries, next: own.next)
  }

  /// The usage of memory and the store below; copies count as memory in use.
  public var usage: StoreUsage {
    var usage = base.usage
    let own = memory.usage
    usage.memoryBytes += own.memoryBytes
    usage.memoryCapacity += own.memoryCapacity
    usage.memoryEntries += own.memoryEntries
    return usage
  }

  /// Counts in the store below, which is told when there are many counts.
  public func count(_ counts: CacheCounts) {
    if let many = untoldCounts.add(counts) { base.count(many) }
  }

  /// The counters of the store below.
  public func counts() async throws(CacheError) -> CacheCounts {
    tellBase()
    return try await base.counts()
  }

  /// Changes the capacity of memory here and the rest in the store below. With a `disk` of 0, responses are
  /// stored in memory only, and the copies in memory stay.
  public func setCapacity(memory bytes: Int64?, disk: Int64?) async throws(CacheError) {
    try await memory.setCapacity(memory: bytes, disk: nil)
    if let disk {
      isBaseOff.store(disk <= 0, ordering: .relaxed)
      // Take the ticket before generations are compared: a later change of the store below then counts.
      let now = ticket()
      if disk <= 0 { memory.keepCopies(taking: now) { isCurrent($1, of: $0, at: generationBelow(of: $0)) } }
    }
    try await base.setCapacity(memory: nil, disk: disk)
  }

  /// Flushes the store below.
  public func flush() async {
    tellBase()
    await base.flush()
  }

  /// Closes the store below.
  public func close() async {
    tellBase()
    await base.close()
  }

  private func ownEntries(
    _ selection: CacheSelection, after position: Int64, limit: Int
  ) -> EntryPage {
    let page = memory.listing(selection, after: position, limit: limit) { $0.isMemoryOnly }
    return EntryPage(
      entries: page.entries,
      next: page.next.map { EntryCursor(position: -$0.position - 1) })
  }
}
