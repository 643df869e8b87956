public import HTTPCacheSemantics

extension SeedLayer {
  // Positions below this are in the list of seeds: Int64.min and up. Stores use positions near 0.
  private static let seedPositions = Int64.min / 2

  /// The entries of the store below, then the seeds that no entry hides, each in the empty partition.
  ///
  /// - Throws: what the store below throws; the errors of a source.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    let limit = max(1, limit)
    if let cursor, cursor.position < Self.seedPositions {
      return try await seedEntries(selection, from: Int(cursor.position - Int64.min), limit: limit)
    }
    let below = try await base.entries(selection, after: cursor, limit: limit)
    guard below.next == nil else { return below }
    let rest = limit - below.entries.count
    let own = try await seedEntries(selection, from: 0, limit: max(1, rest))
    if own.entries.isEmpty { return below }
    guard rest > 0 else { return EntryPage(entries: below.entries, next: EntryCursor(position: Int64.min)) }
    return EntryPage(entries: below.entries + own.entries, next: own.next)
  }

  private func seedEntries(
    _ selection: CacheSelection, from first: Int, limit: Int
  ) async throws(CacheError) -> EntryPage {
    var (position, entries) = (first, [CacheEntry]())
    while let (source, offset) = place(position) {
      let page = try source.responses(from: offset, limit: min(64, source.count - offset))
      for (number, seed) in page.enumerated() {
        guard let entry = try await entry(of: seed, in: source, selection) else { continue }
        // A page has a next one only if that is not empty.
        if entries.count == limit {
          return EntryPage(
            entries: entries, next: EntryCursor(position: Int64.min + Int64(position + number)))
        }
        entries.append(entry)
      }
      // A source that has fewer responses than it says: continue with the next source.
      position += page.isEmpty ? source.count - offset : page.count
    }
    return EntryPage(entries: entries, next: nil)
  }

  /// The source of a position in the list of all seeds, and the position in that source.
  private func place(_ position: Int) -> (any SeedSource, Int)? {
    var rest = position
    for source in seeds {
      if rest < source.count { return (source, rest) }
      rest -= source.count
    }
    return nil
  }

  /// The entry of a seed; nil if it is not selected, was removed, or is hidden by an entry of the store below or
  /// by an earlier source.
  private func entry(
    of seed: SeedResponse, in source: any SeedSource, _ selection: CacheSelection
  ) async throws(CacheError) -> CacheEntry? {
    let key = CacheKey(mode: mode, target: seed.target)
    let earlier = seeds.prefix { $0 !== source }
    for other in earlier where !(try other.responses(to: seed.target).isEmpty) { return nil }
    guard let record = record(of: seed, 0, key),
      selection.matches(record, lastUsed: record.response.responseTime)
    else { return nil }
    let stored = try await base.entries(.key(key), after: nil, limit: 64)
    if Self.hide(stored.entries.map(\.record)) { return nil }
    return CacheEntry(
      record: record, size: seed.bodyLength, lastUsed: record.response.responseTime,
      bodyPath: seed.bodyPath)
  }

  /// The usage of the store below; seeds take nothing of its capacity.
  public var usage: StoreUsage { base.usage }

  /// The secret of the store below.
  public var secret: [UInt8] { base.secret }

  /// Counts in the store below.
  public func count(_ counts: CacheCounts) { base.count(counts) }

  /// The counters of the store below.
  ///
  /// - Throws: what the store below throws.
  public func counts() async throws(CacheError) -> CacheCounts { try await base.counts() }

  /// Keeps the note in the store below.
  public func note(_ refusal: RefusalNote) { base.note(refusal) }

  /// The notes of the store below.
  ///
  /// - Throws: what the store below throws.
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] { try base.refusals(of: key) }

  /// Changes the capacities of the store below.
  ///
  /// - Throws: what the store below throws.
  public func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    try await base.setCapacity(memory: memory, disk: disk)
  }

  /// Evicts from the memory of the store below.
  public func trimMemory(to bytes: Int64) { base.trimMemory(to: bytes) }

  /// Removes what an account has stored below. Seeds stay: they belong to the program.
  ///
  /// - Throws: what the store below throws.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    try await base.wipe(mode: mode, partition: partition)
  }

  /// Flushes the store below.
  public func flush() async { await base.flush() }

  /// Closes the store below.
  public func close() async { await base.close() }
}
