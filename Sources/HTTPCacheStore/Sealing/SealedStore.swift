public import HTTPCacheSemantics
import Synchronization

/// A store over another one, in practice one on disk, that gives it nothing in the clear: records and
/// bodies are sealed, names are keyed digests.
///
/// What the store below sees is what it needs for its work: sizes, times, which responses belong to one
/// target, origin, partition or group (but not to which), what is pinned or invalidated. Anything that
/// does not come back as it was sealed is a miss, is told to `onDamage`, and is removed.
///
/// Bodies are sealed in chunks of 65,508 bytes, so that a range needs no others. Of a body that is stored
/// in part whole chunks are kept. What was sealed under another key is neither found nor touched, but it
/// counts and is evicted like the rest.
public final class SealedStore: CacheStore {
  /// The beginning of the target of each response that any cipher sealed.
  package static let targetMark = "sealed-"
  let base: any CacheStore
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
  ///   - base: the store below; it may hold what others sealed. Its own largest entry has to be that of
  ///     the sealed form: `sealedLength(of:overhead:)`.
  ///   - cipher: of the base's `secret`.
  ///   - largestEntry: the longest body in bytes; nil leaves it to the base.
  ///   - onDamage: told what was not as it was sealed.
  /// - Throws: `CacheError.unavailable` for a cipher whose lengths are not those that it may have.
  public convenience init(
    base: any CacheStore, cipher: any CacheCipher, largestEntry: Int64? = nil,
    onDamage: (@Sendable (CacheError) -> Void)? = nil
  ) throws(CacheError) {
    try self.init(
      base: base, cipher: cipher, largestEntry: largestEntry, executor: nil, onDamage: onDamage)
  }

  /// Makes a store over `base` whose own tasks run on an executor of the caller's.
  ///
  /// - Parameter executor: runs the removals of damaged entries; nil is Swift's own executor.
  /// - Throws: `CacheError.unavailable` for a cipher whose lengths are not those that it may have.
  package init(
    base: any CacheStore, cipher: any CacheCipher, largestEntry: Int64? = nil,
    executor: (any TaskExecutor)?, onDamage: (@Sendable (CacheError) -> Void)? = nil
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

  /// How many bytes a body takes when it is sealed.
  ///
  /// - Parameters:
  ///   - length: of the body in bytes.
  ///   - overhead: that of the cipher in bytes (`CacheCipher.overhead`); that of AES-GCM, if none is given.
  public static func sealedLength(of length: Int64, overhead: Int = 28) -> Int64 {
    SealedLayout(overhead: overhead).sealedLength(of: length)
  }

  /// The most bytes that a body takes when it is sealed, with whatever cipher.
  ///
  /// - Parameter length: of the body in bytes.
  package static func longestSealed(of length: Int64) -> Int64 {
    sealedLength(of: length, overhead: SealedLayout.overheads.upperBound)
  }

  /// How the targets of what a cipher seals begin in the store below; those of any cipher begin with
  /// `sealed-`.
  package static func prefix(of cipher: any CacheCipher) -> String { SealedNames.prefix(of: cipher) }

  /// What the base has in memory.
  public func peek(_ key: CacheKey) -> PeekResult {
    switch base.peek(names.key(key)) {
    case .found(let variants): .found(opened(variants, of: key))
    case .absent: .absent
    case .unknown: .unknown
    }
  }

  /// The variants stored for a key.
  ///
  /// - Throws: what the base throws.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    opened(try base.read(names.key(key)), of: key)
  }

  /// Begins to store a response. Of a part, what is no whole chunk is not stored; a part without one is
  /// committed without an error, as if it had been evicted at once.
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
    guard StoredRanges.areParts(targets, of: record.bodyLength) else {
      throw CacheError(.damaged, "these are no parts of the body", key: record.key)
    }
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

  /// Begins to add to a part of a response, from the next chunk on.
  ///
  /// - Throws: `CacheError.unavailable`; what the base throws.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    guard let (below, stored) = try found(record), let slots = below.storedRanges else {
      throw CacheError(.unavailable, "no part of it is stored", key: record.key)
    }
    let length = stored.record.bodyLength
    let (wanted, offset) = (record.bodyLength ?? length, max(0, offset))
    guard offset <= SealedLayout.farthest, wanted ?? 0 <= SealedLayout.farthest else {
      throw CacheError(.tooLarge, "too far away", key: record.key)
    }
    guard length == nil || length == wanted,
      wanted ?? .max >= stored.record.storedRanges?.last?.upperBound ?? 0
    else {
      throw CacheError(
        .unavailable, "what is stored is not of a body of \(wanted ?? 0) bytes", key: record.key)
    }
    // The base passes over bytes that it has. Of a chunk it must have all or nothing.
    let end = wanted.map { layout.sealedLength(of: $0) }
    guard
      slots.allSatisfy({
        $0.lowerBound % SealedLayout.slot == 0
          && ($0.upperBound % SealedLayout.slot == 0 || $0.upperBound == end)
      })
    else {
      try await base.remove(.variant(below.key, sequence: below.sequence))
      throw CacheError(.unavailable, "a chunk of the part is torn", key: record.key)
    }
    let next = record.storing(stored.record.storedRanges, bodyLength: wanted)
    let first = (offset + layout.chunk - 1) / layout.chunk
    let writer = try await base.extend(
      try sealed(next, bodyID: stored.bodyID, isFinal: false, slots: slots),
      at: first * SealedLayout.slot)
    return SealedWriter(
      next, bodyID: stored.bodyID, extent: .rest(from: offset), base: writer, store: self)
  }

  /// Replaces the record of a stored response and keeps its body.
  ///
  /// - Throws: what the store below throws.
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    guard let (below, stored) = try found(record) else { return false }
    let next = record.storing(
      stored.record.storedRanges, bodyLength: stored.record.bodyLength)
    let sealed = try SealedRecord.seal(
      next, bodyID: stored.bodyID, isFinal: below.isComplete, slots: below.storedRanges,
      sealedLength: below.bodyLength, cipher, names)
    return try await base.update(sealed)
  }

  /// The ticket of the base.
  public func ticket() -> InvalidationTicket { base.ticket() }

  /// Asks the base, by the names that it knows.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    base.isOvertaken(
      names.key(key), groups: groups?.map { names.group($0, of: key.origin) }, since: names.ticket(ticket))
  }

  // MARK: Sealing and opening

  func sealed(
    _ record: CacheRecord, bodyID: SealedRecord.BodyID, isFinal: Bool, slots: [Range<Int64>]?
  ) throws(CacheError) -> CacheRecord {
    try SealedRecord.seal(
      record, bodyID: bodyID, isFinal: isFinal, slots: slots,
      sealedLength: record.bodyLength.map { layout.sealedLength(of: $0) }, cipher, names)
  }

  /// What the base has of a response, and what it is.
  private func found(
    _ record: CacheRecord
  ) throws(CacheError) -> (below: CacheRecord, stored: SealedRecord)? {
    let key = names.key(record.key)
    let variants: [StoredVariant]
    if let tierBase { variants = try tierBase.variants(of: key) } else { variants = try base.read(key) }
    guard let below = variants.first(where: { $0.record.sequence == record.sequence })?.record,
      let stored = try SealedRecord.open(below, cipher, names), stored.record.key == record.key
    else { return nil }
    return (below, stored)
  }

  /// Opens what the base has for a key; what is damaged is not among it.
  func opened(_ variants: [StoredVariant], of key: CacheKey) -> [StoredVariant] {
    variants.compactMap { variant in
      do throws(CacheError) {
        guard let opened = try SealedRecord.open(variant.record, cipher, names) else { return nil }
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

  /// Tells of what does not open, and removes it if it is damaged; a cipher may fail for a moment as well.
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

  /// Waits until what is damaged was removed, then flushes the base.
  public func flush() async {
    for task in removals.withLock({ Array($0.running.values) }) { await task.value }
    await base.flush()
  }
}

extension CacheStore {
  /// Whether what it gives to files is sealed.
  package var isSealed: Bool { self is SealedStore || (self as? TieredStore)?.base is SealedStore }
}

extension SealedStore: TierBase, GenerationSource {
  /// Counts a use that the tier above answered.
  public func recordUse(of key: CacheKey) { tierBase?.recordUse(of: names.key(key)) }

  /// What is stored for a key, without counting a use if it can be helped.
  ///
  /// - Throws: what the store below throws.
  public func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    guard let tierBase else { return try read(key) }
    return opened(try tierBase.variants(of: names.key(key)), of: key)
  }

  /// That of the key below.
  public func generation(of key: CacheKey) -> UInt64 { generations?.generation(of: names.key(key)) ?? 0 }
}
