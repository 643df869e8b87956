public import HTTPCacheSemantics

/// A store over another store. What it does not implement itself, the store below does: no requirement of `CacheStore` is
/// forgotten on the way, not even one that has a default there. A function of a layer throws what the store below throws,
/// and the errors that its own documentation names.
public protocol StoreLayer: CacheStore {
  /// The store below.
  var base: any CacheStore { get }
}

extension StoreLayer {
  /// Asks the store below.
  public func peek(_ key: CacheKey) -> [StoredVariant]? { base.peek(key) }

  /// Asks the store below.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { try base.read(key) }

  /// Asks the store below.
  public func ticket() -> InvalidationTicket { base.ticket() }

  /// Asks the store below.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    base.isOvertaken(key, groups: groups, since: ticket)
  }

  /// Asks the store below.
  public func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool {
    base.isWiped(key, since: ticket)
  }

  /// Begins to write to the store below.
  public func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter {
    try await base.write(record, variantLimit: variantLimit)
  }

  /// Begins to add to a part in the store below.
  public func extend(_ record: CacheRecord, at offset: Int64) async throws(CacheError) -> any BodyWriter {
    try await base.extend(record, at: offset)
  }

  /// Keeps the note in the store below.
  public func note(_ refusal: RefusalNote) { base.note(refusal) }

  /// The notes of the store below.
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] { try base.refusals(of: key) }

  /// Updates the store below.
  @discardableResult
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool { try await base.update(record) }

  /// Removes from the store below.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    try await base.remove(selection)
  }

  /// Marks in the store below.
  @discardableResult
  public func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    try await base.mark(selection, as: mark)
  }

  /// Lists the store below.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    try await base.entries(selection, after: cursor, limit: limit)
  }

  /// The usage of the store below.
  public var usage: StoreUsage { base.usage }

  /// Asks the store below.
  public var isInMemoryOnly: Bool { base.isInMemoryOnly }

  /// The secret of the store below.
  public var secret: [UInt8] { base.secret }

  /// Counts in the store below.
  public func count(_ counts: CacheCounts) { base.count(counts) }

  /// The counters of the store below.
  public func counts() async throws(CacheError) -> CacheCounts { try await base.counts() }

  /// Changes the capacities of the store below.
  public func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    try await base.setCapacity(memory: memory, disk: disk)
  }

  /// Evicts from the memory of the store below.
  public func trimMemory(to bytes: Int64) { base.trimMemory(to: bytes) }

  /// Wipes the partition in the store below.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    try await base.wipe(mode: mode, partition: partition)
  }

  /// Flushes the store below.
  public func flush() async { await base.flush() }

  /// Closes the store below.
  public func close() async { await base.close() }
}
