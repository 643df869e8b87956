import HTTPCacheFiles
public import HTTPCacheSemantics
public import HTTPCacheStore

extension DiskStore: CacheStore {
  // MARK: Reading

  /// Reads the stored variants of a key on the calling thread, in some microseconds.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { try reader.read(key) }

  /// The matching entries, in the order of their ids.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    try await thread.run { [self] (opened) throws(CacheError) in
      try batch.write(in: opened)
      return try reader.entries(selection, after: cursor, limit: max(1, min(limit, 1_000)), in: opened)
    }
  }

  /// A random key of this directory (32 bytes).
  public var secret: [UInt8] { thread.currentDirectory.secret }

  /// The ticket of a request that is about to be sent.
  public func ticket() -> InvalidationTicket { thread.currentDirectory.changes.ticket() }

  /// Whether any process invalidated or removed a selection that a response may match, after a ticket was
  /// taken. If memory is not shared (on a network file system), only invalidations by this store count.
  public func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    thread.currentDirectory.changes.isOvertaken(key, groups: groups, since: ticket)
  }

  /// Whether any process may have wiped the partition of a response after a ticket was taken. If memory is not shared (on
  /// a network file system), only wipes by this store count.
  public func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool {
    thread.currentDirectory.changes.isWiped(key, since: ticket)
  }

  // MARK: Storing

  /// A capacity in bytes that an empty index may fill.
  private static let smallCapacity: Int64 = 1 << 20

  /// Begins to store a response. Nothing is written yet.
  ///
  /// - Throws: `CacheError.tooLarge`; `CacheError.noSpace` if the capacity is less than an index with one entry takes;
  ///   `CacheError.invalidRequest` for a record that must not be written to
  ///   disk; `CacheError.unavailable` if the directory was removed and cannot be made again.
  public func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    guard !record.isMemoryOnly else {
      throw CacheError(.invalidRequest, "the record must not go to disk", key: record.key)
    }
    let stored = record.storedRanges.map(StoredRanges.count) ?? record.bodyLength ?? 0
    var limit = limits.longestBody
    let isSmall = limits.capacity < Self.smallCapacity
    if stored > limit || isSmall { limit = limits.longestBody(in: thread.currentDirectory) }
    if isSmall, limits.capacity > 0, let note = limits.noRoomNote(in: thread.currentDirectory) {
      throw CacheError(.noSpace, note, key: record.key)
    }
    guard stored <= limit else {
      throw CacheError(
        .tooLarge, "\(stored) bytes, at most \(limit) are stored", key: record.key)
    }
    var opened = thread.currentDirectory
    if !opened.isCurrent { opened = try await thread.run { $0 } }
    let record = record.with(ticket: record.ticket ?? opened.changes.ticket())
    return try DiskBodyWriter(
      store: self, opened: opened, record: record, limits: (variants: max(1, variantLimit), bytes: limit))
  }

  /// Begins to add bytes to a stored partial body.
  ///
  /// - Throws: `CacheError.unavailable` if the response is not stored, is complete, has a body of another
  ///   length, or if another writer is adding to it; `CacheError.tooLarge` if the body has too many parts,
  ///   `CacheError.damaged`, `CacheError.io`.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    let limit = limits.longestBody
    return try await thread.run { [self] (opened) throws(CacheError) in
      let record = record.with(ticket: record.ticket ?? opened.changes.ticket())
      do throws(CacheError) {
        let part = try GrowingPart(of: record, extendedAt: offset, in: opened)
        return try DiskBodyWriter(
          store: self, opened: opened, record: part.record, limits: (variants: .max, bytes: limit),
          adding: (part, offset))
      } catch {
        if error.code == .damaged {
          reader.context(opened).onDamage(Int64(bitPattern: record.sequence), error)
        }
        throw error
      }
    }
  }

  /// Replaces the record of a stored response and keeps its body.
  ///
  /// - Returns: whether the response was still there.
  @discardableResult
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    try await updater.update(record)
  }

  // MARK: Removing and invalidating

  /// Makes each process store responses as invalidated that match and whose requests were sent before. Stored entries
  /// do not change.
  public func overtake(_ selection: CacheSelection) { thread.currentDirectory.noteInvalidation(selection) }

  /// Removes the matching entries. When this returns, their rows and files are deleted.
  ///
  /// - Returns: the number of responses removed.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    try await changer.remove(selection)
  }

  /// Invalidates the matching entries, or ends their lifetime. If the disk is too full to write that, the entries are
  /// removed instead.
  ///
  /// - Returns: the number of responses that match; nil if an epoch was written, whose rows are changed in the
  ///   background.
  @discardableResult
  public func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    try await changer.mark(selection, as: mark)
  }

  /// Removes everything of a partition, so that no file of the directory has any byte of it when this
  /// returns. Rows are overwritten, and the log is emptied. Indexes that were set
  /// aside and files of dead processes are deleted. Refusals are deleted for all partitions, because their
  /// rows do not name a partition.
  ///
  /// Responses that are being written for the partition, by any process, are given up at their next block.
  ///
  /// - Returns: the number of responses removed.
  /// - Throws: `CacheError.busy` if a process read an old state of the index for seconds, so that the log
  ///   could not be emptied. The entries are removed nevertheless.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    try await changer.wipe(mode: mode, partition: partition)
  }

  // MARK: Limits

  /// Changes the capacity of the directory for all processes, and evicts the excess. The files are smaller when
  /// this returns. Processes that have the directory open use the new capacity from their next change on.
  ///
  /// - Parameters:
  ///   - memory: not used by a store on disk.
  ///   - disk: bytes; nil leaves the capacity as it is.
  public func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    guard let disk else { return }
    try await trimmer.change(DirectorySettings.Changes(capacity: max(0, disk)))
  }

  /// Drops recently read records. The store keeps nothing else in memory for long.
  public func trimMemory(to bytes: Int64) { recentRecords.removeAll() }

  // MARK: Counts and refusals

  /// Adds to the persistent counters. The next batch writes them.
  public func count(_ counts: CacheCounts) { batch.count(counts) }

  /// The persistent counters.
  public func counts() async throws(CacheError) -> CacheCounts {
    try await thread.run { [self] (opened) throws(CacheError) in
      try batch.write(in: opened)
      return try opened.index.withWriter { (connection) throws(CacheError) in try connection.counts() }
    }
  }

  /// Remembers a refusal; the next batch writes it. The index keeps the latest 1,000 refusals, at most four
  /// of one key.
  public func note(_ refusal: RefusalNote) { batch.note(refusal) }

  /// The latest refusals of a key, newest first, at most four.
  public func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    let pending = batch.refusals(of: key)
    let opened = try thread.directoryToRead()
    let written = try thread.read(opened) { (connection) throws(CacheError) in
      try connection.refusals(of: key, hash: opened.hashes.hash(of: key))
    }
    return Array((pending + written).prefix(RecentRefusals.mostOfOneKey))
  }

  /// Writes the batch and makes a checkpoint.
  public func flush() async {
    _ = try? await thread.run { [self] (opened) throws(CacheError) in
      try batch.write(in: opened)
      try opened.index.truncateLog(waiting: true)
    }
  }

  /// Writes the batch and closes the connections to the index. Later calls throw `CacheError.closed`.
  ///
  /// If a store is released without this call, changes in the batch since the last flush are lost, and the
  /// thread that releases the store closes the connections.
  public func close() async {
    await flush()
    _ = try? await thread.run { (opened) throws(CacheError) in opened.index.close() }
  }
}

extension DiskStore: GenerationSource, TierBase {
  /// The generation of a key, which tells of commits of all processes. Costs a hash of the key and three loads from
  /// memory.
  package func generation(of key: CacheKey) -> Generation {
    thread.withGenerations { $0.generation(of: key) }
  }

  package func hasSelected(_ key: CacheKey, groups: [String], since selections: UInt64) -> Bool {
    thread.withGenerations { $0.hasSelected(key, groups: groups, since: selections) }
  }

  /// Whether the index has no row of a key, as far as that is known without reading it.
  package func isKnownAbsent(_ key: CacheKey) -> Bool { thread.place(of: key).isKnownAbsent }

  /// Reads the stored variants as `read(_:)` does, without counting a use.
  public func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    try reader.variants(of: key)
  }

  /// Counts uses of keys that were answered from the memory of a store above. The next batch writes them.
  package func recordUses(_ uses: [KeyUses]) { reader.recordUses(uses) }
}
