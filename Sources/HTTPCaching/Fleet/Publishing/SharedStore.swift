import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The outermost store of a cache in a fleet. It sees each record as it is stored: it publishes responses that this node
/// fetched for all nodes after their commit, and turns removals, invalidations and wipes of this node into changes that
/// the other nodes make, too.
final class SharedStore: StoreLayer {
  let base: any CacheStore
  let fleet: Fleet
  private let publisher: SharedPublisher
  // The counts of the tier are those of this process: a directory does not keep them.
  private let hits = Atomic<Int64>(0)
  private let bytes = Atomic<Int64>(0)

  init(base: any CacheStore, fleet: Fleet) {
    self.base = base
    self.fleet = fleet
    publisher = SharedPublisher(fleet: fleet)
  }

  // MARK: Responses

  /// Begins to store a response; it is published after its commit if this node fetched it for all nodes.
  func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter {
    let writer = try await base.write(record, variantLimit: variantLimit)
    // Names are published with the response that they lead to.
    guard ![.pointer, .searchRule].contains(record.key.methodClass),
      let fetch = fleet.fetch(for: record.ticket)
    else { return writer }
    guard mayPublish(record, fetch) else { return writer }
    return SharedWriter(writer, fetch: fetch, store: self)
  }

  /// The writer of a part, which is never published.
  func extend(_ record: CacheRecord, at offset: Int64) async throws(CacheError) -> any BodyWriter {
    if fleet.isTooLarge(record.bodyLength) { fleet.fetch(for: record.ticket)?.refuse() }
    return try await base.extend(record, at: offset)
  }

  /// Replaces a record; the new record is published if a response to a fetch for all nodes freshened it.
  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    let isUpdated = try await base.update(record)
    guard isUpdated, let fetch = fleet.fetch(for: record.ticket), mayPublish(record, fetch) else {
      return isUpdated
    }
    let stored: StoredVariant?
    do throws(CacheError) {
      stored = try base.read(record.key).first { $0.record.sequence == record.sequence }
    } catch { return isUpdated }
    guard let stored, let reader = try? stored.body.open() else { return isUpdated }
    publish(stored.record, reader, fetch, confirming: fetch.found)
    return isUpdated
  }

  /// Whether the response to a fetch may be published; ends the fetch if not.
  private func mayPublish(_ record: CacheRecord, _ fetch: SharedFetch) -> Bool {
    if fleet.mayPublish(record) { return true }
    // A part says nothing about the whole response but its length.
    if record.isComplete || fleet.isTooLarge(record.bodyLength) { fetch.refuse() } else { fetch.release() }
    return false
  }

  /// Publishes a stored response in the background.
  ///
  /// - Parameters:
  ///   - record: the response as it was stored.
  ///   - reader: reads its whole body.
  ///   - fetch: the fetch that this node led for all nodes.
  ///   - confirmed: the responses of the tier that a 304 may have confirmed; none for a response with a body of its own.
  func publish(
    _ record: CacheRecord, _ reader: any BodyReader, _ fetch: SharedFetch,
    confirming confirmed: [SharedVariant]
  ) {
    guard fetch.isOpen, fleet.mayPublish(record), !fetch.isOvertaken(record) else { return fetch.release() }
    // Names must be found before the response that they lead to.
    var names: [CacheRecord] = []
    if record.key != fetch.key {
      for key in [fetch.key.pointer, fetch.key.searchRule] {
        if let name = try? base.read(key).first?.record { names.append(name) }
      }
    }
    publisher.publish(
      SharedPublisher.Job(record: record, reader: reader, fetch: fetch, names: names, confirmed: confirmed))
  }

  // MARK: Changes

  /// Removes the entries that match, here and on the other nodes.
  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    guard fleet.concernsOthers(selection) else { return try await base.remove(selection) }
    let (first, again) = try await adding(.remove, selection) { [base] () async throws(CacheError) in
      try await base.remove(selection)
    }
    return first + again
  }

  /// Invalidates the entries that match, here and on the other nodes, or ends their lifetime.
  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    guard fleet.concernsOthers(selection) else { return try await base.mark(selection, as: mark) }
    let kind: SharedChange.Kind =
      switch mark {
      case .invalidated: .invalidate
      case .expired: .expire
      }
    let counts = try await adding(kind, selection) { [base] () async throws(CacheError) in
      try await base.mark(selection, as: mark)
    }
    // Both mark the same responses, in any order.
    return [counts.first, counts.again].compactMap(\.self).max()
  }

  /// Removes all entries of a partition, here, in the tier and on the other nodes.
  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    guard fleet.shares(mode: mode, partition: partition) else {
      return try await base.wipe(mode: mode, partition: partition)
    }
    let (first, again) = try await adding(
      .wipe, .partition(mode: mode, partition),
      whenAdded: { await fleet.wipeTier(mode: mode, partition: partition) }
    ) { [base] () async throws(CacheError) in
      try await base.wipe(mode: mode, partition: partition)
    }
    return first + again
  }

  /// Makes a change here while it is added to the log, and again once it is there, because a look-up before that may have
  /// stored what was changed. The first time does not delay the second: a removal of many entries takes as long as a node
  /// may take to answer.
  ///
  /// - Parameter whenAdded: called between the log and the second time, if the change is in the log.
  /// - Returns: what each gave.
  private func adding<Value: Sendable>(
    _ kind: SharedChange.Kind, _ selection: CacheSelection, whenAdded: () async -> Void = {},
    _ change: @escaping @Sendable () async throws(CacheError) -> Value
  ) async throws(CacheError) -> (first: Value, again: Value) {
    async let first = Self.attempt(change)
    if await fleet.add(kind, selection) { await whenAdded() }
    let again = await Self.attempt(change)
    return (try await first.get(), try again.get())
  }

  private static func attempt<Value: Sendable>(
    _ change: @Sendable () async throws(CacheError) -> Value
  ) async -> Result<Value, CacheError> {
    do throws(CacheError) { return .success(try await change()) } catch { return .failure(error) }
  }

  // MARK: Facts

  /// The secret of the tier, so that digests are equal on all nodes; that of the store below if the tier has none.
  var secret: [UInt8] { fleet.tier.secret ?? base.secret }

  func count(_ counts: CacheCounts) {
    guard counts.sharedHits != 0 || counts.sharedBytes != 0 else { return base.count(counts) }
    hits.add(counts.sharedHits, ordering: .relaxed)
    bytes.add(counts.sharedBytes, ordering: .relaxed)
    var counts = counts
    (counts.sharedHits, counts.sharedBytes) = (0, 0)
    base.count(counts)
  }

  func counts() async throws(CacheError) -> CacheCounts {
    var counts = try await base.counts()
    counts += CacheCounts(
      sharedHits: hits.load(ordering: .relaxed), sharedBytes: bytes.load(ordering: .relaxed))
    return counts
  }

  /// Closes the tier, then the store below.
  func close() async {
    await fleet.close()
    await base.close()
  }
}
