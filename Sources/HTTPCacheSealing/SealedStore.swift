public import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

/// A store that encrypts for another store, usually one on disk: records and bodies are sealed, names are keyed
/// digests.
///
/// The store below sees only what its work needs: sizes, times, which entries share a target, origin,
/// partition or group (but not which one), and which entries are pinned or invalidated. Data that was changed
/// counts as a miss, is reported to `onDamage`, and is removed.
///
/// Bodies are sealed in chunks of 65,508 bytes, so that reading a range opens only its chunks. A partial body
/// keeps its whole chunks. Entries sealed under another key are neither found nor changed, but they count
/// towards usage and are evicted like the rest.
public final class SealedStore: StoreLayer {
  /// The store below.
  public let base: any CacheStore
  let cipher: any CacheCipher
  let names: SealedNames
  let layout: SealedLayout
  let largestEntry: Int64?
  let tierBase: (any TierBase)?
  private let generations: (any GenerationSource)?
  private let onDamage: (@Sendable (CacheError) -> Void)?
  private let executor: (any TaskExecutor)?
  private let removals = Mutex<(last: Int, running: [Int: Task<Void, Never>])>((0, [:]))

  /// Makes a store over `base`.
  ///
  /// - Parameters:
  ///   - base: the store below; it may hold entries sealed under other keys. Its largest entry must be that
  ///     of the sealed form: `sealedLength(of:overhead:)`.
  ///   - cipher: made for the base's `secret`.
  ///   - largestEntry: the longest body in bytes; nil leaves it to the base.
  ///   - executor: runs the removals of damaged entries; nil is Swift's default executor.
  ///   - onDamage: called for damaged data.
  /// - Throws: `CacheError.unavailable` for a cipher whose lengths are out of range.
  public init(
    base: any CacheStore, cipher: any CacheCipher, largestEntry: Int64? = nil,
    executor: (any TaskExecutor)? = nil, onDamage: (@Sendable (CacheError) -> Void)? = nil
  ) throws(CacheError) {
    try cipher.requireLengths()
    self.executor = executor
    self.base = base
    self.cipher = cipher
    self.largestEntry = largestEntry
    self.onDamage = onDamage
    names = SealedNames(cipher: cipher)
    layout = SealedLayout(cipher)
    tierBase = base as? any TierBase
    generations = base as? any GenerationSource
  }

  /// The length of a body after sealing, in bytes.
  ///
  /// - Parameters:
  ///   - length: the length of the body in bytes.
  ///   - overhead: the cipher's `CacheCipher.overhead` in bytes; by default that of AES-GCM.
  public static func sealedLength(of length: Int64, overhead: Int = 28) -> Int64 {
    SealedLayout(overhead: overhead).sealedLength(of: length)
  }

  /// The longest possible length of a sealed body, with any cipher.
  ///
  /// - Parameter length: the length of the body in bytes.
  package static func longestSealed(of length: Int64) -> Int64 {
    sealedLength(of: length, overhead: SealedLayout.overheads.upperBound)
  }

  /// The variants that the base has in memory.
  public func peek(_ key: CacheKey) -> [StoredVariant]? {
    base.peek(names.key(key)).map { opened($0, of: key) }
  }

  /// The variants stored for a key.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    opened(try base.read(names.key(key)), of: key)
  }

  /// Begins to store a response. A partial response is stored up to its last whole chunk; without a whole
  /// chunk it is committed without an error, as if it had been evicted at once.
  ///
  /// - Throws: `CacheError.tooLarge`; what the base throws.
  public func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    let targets = record.storedRanges
    let length = targets.map { StoredRanges.count($0) } ?? record.bodyLength ?? 0
    guard length <= min(largestEntry ?? .max, SealedLayout.farthest),
      targets?.last?.upperBound ?? 0 <= SealedLayout.farthest
    else {
      throw CacheError(
        .tooLarge, "\(length) bytes, at most \(largestEntry ?? 0) are stored", key: record.key)
    }
    let bodyID = SealedRecord.makeBodyID()
    guard let targets else {
      let below = try sealed(record, bodyID: bodyID, isFinal: false, slots: nil)
      return SealedWriter(
        record, bodyID: bodyID, extent: .whole,
        base: try await base.write(below, variantLimit: variantLimit), store: self)
    }
    try record.requireParts()
    let slots = StoredRanges.union(
      targets.map {
        let chunks = layout.chunks(in: $0, length: record.bodyLength)
        return layout.slots(of: chunks, length: record.bodyLength)
      })
    var writer: (any BodyWriter)?
    if !slots.isEmpty {
      let below = try sealed(record, bodyID: bodyID, isFinal: false, slots: slots)
      writer = try await base.write(below, variantLimit: variantLimit)
    }
    return SealedWriter(
      record, bodyID: bodyID, extent: .parts(targets), base: writer, store: self)
  }

  /// Begins to add to a partial response, from the next chunk on.
  ///
  /// - Throws: `CacheError.unavailable`; what the base throws.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    guard let (below, stored) = try found(record), let slots = below.storedRanges else {
      throw CacheError(.unavailable, "no part of it is stored", key: record.key)
    }
    let (length, offset) = (try record.length(over: stored.record), max(0, offset))
    guard offset <= SealedLayout.farthest, length ?? 0 <= SealedLayout.farthest else {
      throw CacheError(.tooLarge, "too far away", key: record.key)
    }
    // The base skips bytes that it has. It must have all bytes of a chunk or none.
    let end = length.map { layout.sealedLength(of: $0) }
    guard
      slots.allSatisfy({
        $0.lowerBound % SealedLayout.slot == 0
          && ($0.upperBound % SealedLayout.slot == 0 || $0.upperBound == end)
      })
    else {
      try await base.remove(.variant(below.key, sequence: below.sequence))
      throw CacheError(.unavailable, "a chunk of the part is torn", key: record.key)
    }
    let next = record.storing(stored.record.storedRanges, bodyLength: length)
    let first = (offset + layout.chunk - 1) / layout.chunk
    let writer = try await base.extend(
      try sealed(next, bodyID: stored.bodyID, isFinal: false, slots: slots),
      at: first * SealedLayout.slot)
    return SealedWriter(
      next, bodyID: stored.bodyID, extent: .rest(from: offset), base: writer, store: self)
  }

  /// Replaces the record of a stored response and keeps its body.
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    guard let (below, stored) = try found(record) else { return false }
    let next = record.storing(
      stored.record.storedRanges, bodyLength: stored.record.bodyLength)
    let sealed = try SealedRecord.seal(
      next, bodyID: stored.bodyID, isFinal: below.isComplete,
      as: SealedRecord.Extent(slots: below.storedRanges, length: below.bodyLength),
      cipher: cipher, names: names)
    return try await base.update(sealed)
  }

  /// Asks the base, with the sealed names.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    base.isOvertaken(
      names.key(key), groups: groups?.map { names.group($0, of: key.origin) }, since: names.ticket(ticket))
  }

  /// Asks the base, with the sealed names.
  public func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool {
    base.isWiped(names.key(key), since: names.ticket(ticket))
  }

  // MARK: Sealing and opening

  func sealed(
    _ record: CacheRecord, bodyID: SealedRecord.BodyID, isFinal: Bool, slots: [Range<Int64>]?
  ) throws(CacheError) -> CacheRecord {
    try SealedRecord.seal(
      record, bodyID: bodyID, isFinal: isFinal,
      as: SealedRecord.Extent(
        slots: slots, length: record.bodyLength.map { layout.sealedLength(of: $0) }),
      cipher: cipher, names: names)
  }

  /// The entry that the base has for a response, decrypted.
  private func found(
    _ record: CacheRecord
  ) throws(CacheError) -> (below: CacheRecord, stored: SealedRecord)? {
    let key = names.key(record.key)
    let variants: [StoredVariant]
    if let tierBase { variants = try tierBase.variants(of: key) } else { variants = try base.read(key) }
    guard let below = variants.first(where: { $0.record.sequence == record.sequence })?.record,
      let stored = try SealedRecord.open(below, cipher: cipher, names: names), stored.record.key == record.key
    else { return nil }
    return (below, stored)
  }

  /// The decrypted variants of a key, without damaged ones.
  func opened(_ variants: [StoredVariant], of key: CacheKey) -> [StoredVariant] {
    variants.compactMap { variant in
      do throws(CacheError) {
        guard let opened = try SealedRecord.open(variant.record, cipher: cipher, names: names) else {
          return nil
        }
        guard opened.record.key == key else {
          throw CacheError(.damaged, "sealed: a record of something else", key: key)
        }
        return StoredVariant(
          record: opened.record, body: SealedBody(variant.body, of: opened, below: variant.record, self))
      } catch {
        isDamaged(variant.record, error)
        return nil
      }
    }
  }

  /// Reports an entry that does not open, and removes it if it is damaged; other errors of a cipher may pass.
  func isDamaged(_ below: CacheRecord, _ error: CacheError) {
    onDamage?(error)
    guard error.code == .damaged else { return }
    removals.withLock { removals in
      removals.last += 1
      let number = removals.last
      removals.running[number] = Task(executorPreference: executor) { [weak self] in
        guard let self else { return }
        _ = try? await base.remove(.variant(below.key, sequence: below.sequence))
        self.removals.withLock { _ = $0.running.removeValue(forKey: number) }
      }
    }
  }

  /// Waits until damaged entries are removed, then flushes the base.
  public func flush() async {
    for task in removals.withLock({ Array($0.running.values) }) { await task.value }
    await base.flush()
  }

  /// Waits until damaged entries are removed, then closes the base.
  public func close() async {
    await flush()
    await base.close()
  }
}

extension CacheStore {
  /// Whether its files are sealed.
  package var isSealed: Bool {
    self is SealedStore || (self as? TieredStore)?.base is SealedStore
      || (self as? SeedLayer)?.base.isSealed == true
  }
}

extension SealedStore: TierBase, GenerationSource {
  /// Counts uses that the tier above answered.
  package func recordUses(_ uses: [KeyUses]) {
    tierBase?.recordUses(uses.map { KeyUses(of: names.key($0.key), count: $0.count, last: $0.last) })
  }

  /// The variants of a key, without counting a use if the base supports that.
  public func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    guard let tierBase else { return try read(key) }
    return opened(try tierBase.variants(of: names.key(key)), of: key)
  }

  /// The generation of the key in the base.
  package func generation(of key: CacheKey) -> Generation {
    generations?.generation(of: names.key(key)) ?? Generation(changes: 0)
  }

  /// Asks the base, with the sealed names.
  package func hasSelected(_ key: CacheKey, groups: [String], since selections: UInt64) -> Bool {
    let groups = groups.map { names.group($0, of: key.origin) }
    return generations?.hasSelected(names.key(key), groups: groups, since: selections) != false
  }

  package var tellsOfChanges: Bool { generations?.tellsOfChanges == true }

  /// Whether the base is known to have nothing for the key.
  package func isKnownAbsent(_ key: CacheKey) -> Bool { generations?.isKnownAbsent(names.key(key)) == true }
}
