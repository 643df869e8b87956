public import HTTPCacheSemantics
import HTTPTypes

/// A store over another store that answers from seeds: read-only responses that ship with a program.
///
/// Seeds answer a key while the store below has no complete response for it, in every partition. The first
/// source that has the target answers. Freshening a seed (RFC 9111 §3.2) copies it into the store below, with its new
/// record; an answer from a seed does not.
///
/// Removing or invalidating a seed writes a mark (`SeedMarks`), which hides or invalidates all seeds received from
/// the origin before that moment, also in later processes. Selections by time (`storedSince`, `storedBefore`,
/// `unusedSince`) and `wipe` do not change seeds: they free space and forget what an account has stored, and a
/// seed is neither.
public final class SeedLayer: StoreLayer {
  /// Sequence numbers from here on belong to seeds; no store gives as many numbers to entries.
  static let firstSequence: UInt64 = 1 << 63

  /// The store below, which keeps new responses.
  public let base: any CacheStore
  let seeds: [any SeedSource]
  let mode: CacheMode
  let marks: SeedMarks
  let clock: any CacheClock
  private let onFailure: @Sendable (String, CacheError) -> Void

  /// Makes a layer.
  ///
  /// - Parameters:
  ///   - base: the store that keeps new responses.
  ///   - seeds: the sources, in the order in which they are asked.
  ///   - mode: the mode of listed seeds.
  ///   - marksPath: the file for the marks; nil keeps them in memory.
  ///   - clock: the source of the time of marks.
  ///   - onFailure: called when a source fails and the layer continues without it: the name of the operation,
  ///     and the error.
  public init(
    base: any CacheStore, seeds: [any SeedSource], mode: CacheMode = .private, marksPath: String? = nil,
    clock: any CacheClock = SystemClock(), onFailure: @escaping @Sendable (String, CacheError) -> Void
  ) {
    self.base = base
    self.seeds = seeds
    self.mode = mode
    marks = SeedMarks(path: marksPath)
    self.clock = clock
    self.onFailure = onFailure
  }

  /// The variants in the memory of the store below, if one of them is complete; else nil.
  public func peek(_ key: CacheKey) -> [StoredVariant]? {
    guard let found = base.peek(key), Self.hide(found.map(\.record)) else { return nil }
    return found
  }

  /// The variants of the store below, and those of the seeds if none of them is complete.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    let stored = try base.read(key)
    if Self.hide(stored.map(\.record)) { return stored }
    return stored + seeded(key)
  }

  /// Whether entries of a key hide its seeds: one answers GET as a whole.
  static func hide(_ records: [CacheRecord]) -> Bool {
    records.contains { $0.isComplete && $0.response.requestMethod != .head }
  }

  /// The variants that the seeds have for a key, without those that were removed.
  func seeded(_ key: CacheKey) -> [StoredVariant] {
    guard key.methodClass == .get else { return [] }
    for source in seeds {
      let found: [SeedResponse]
      do throws(CacheError) { found = try source.responses(to: key.target) } catch {
        report("read \(source.name)", error)
        continue
      }
      let variants = found.enumerated().compactMap { number, seed in
        record(of: seed, number, key).map { StoredVariant(record: $0, body: seed.body) }
      }
      if !variants.isEmpty { return variants }
    }
    return []
  }

  /// The record of a seed under a key; nil if the seed was removed, or must not be in a shared cache.
  ///
  /// - Parameter number: its place among the seeds of its target.
  func record(of seed: SeedResponse, _ number: Int, _ key: CacheKey) -> CacheRecord? {
    if key.mode == .shared, seed.response.facts.directives.contains(.private) { return nil }
    let groups = CacheGroups.names(of: seed.response.head)
    var response = seed.response
    switch marks.mark(of: key, groups: groups, receivedAt: response.responseTime) {
    case .removed: return nil
    case .invalidated: response = response.marked(as: .invalidated)
    case nil: break
    }
    return CacheRecord(
      key: key, response: response, bodyLength: seed.bodyLength, storedRanges: nil, groups: groups,
      userInfo: [], isSeed: true, isPinned: false, isMemoryOnly: false, isResumable: false,
      sequence: Self.firstSequence + UInt64(number), ticket: nil)
  }

  /// Reports an error that this store continues without.
  func report(_ operation: String, _ error: CacheError) { onFailure(operation, error) }
}

extension SeedLayer {
  // Positions below this are in the list of seeds: Int64.min and up. Stores use positions near 0, and a tiered store
  // uses positions below -2^62 too.
  private static let seedPositions = Int64.min / 4 * 3

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
}
