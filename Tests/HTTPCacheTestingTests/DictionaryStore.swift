import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes
import Synchronization

/// A store with the required members of `CacheStore` only: whole bodies in a dictionary, without a capacity.
final class DictionaryStore: CacheStore {
  private struct Entry {
    var record: CacheRecord
    let body: Body
    var lastUsed: Timestamp
  }

  private struct State {
    var entries: [CacheKey: [Entry]] = [:]
    var lastSequence: UInt64 = 0
  }

  let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
  private let largestEntry: Int64
  private let clock: any CacheClock
  private let log = ChangeCounters()
  private let state = Mutex(State())

  init(largestEntry: Int64, clock: any CacheClock) {
    self.largestEntry = largestEntry
    self.clock = clock
  }

  var usage: StoreUsage {
    let bodies = state.withLock { $0.entries.values.joined().map(\.body.count) }
    return StoreUsage(memoryBytes: bodies.reduce(0, +), memoryCapacity: .max, memoryEntries: bodies.count)
  }

  func ticket() -> InvalidationTicket { log.ticket() }

  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    log.isOvertaken(key, groups: groups, since: ticket)
  }

  func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool { log.isWiped(key, since: ticket) }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    state.withLock { state in
      for index in state.entries[key, default: []].indices { state.entries[key]?[index].lastUsed = clock.now }
      return state.entries[key, default: []].map { StoredVariant(record: $0.record, body: $0.body) }
    }
  }

  func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter {
    let record = record.with(ticket: record.ticket ?? ticket())
    let body = Body(announced: record.isComplete ? record.bodyLength : nil)
    return DictionaryWriter(body, limit: largestEntry) { [self] trailers throws(CacheError) in
      var response = record.response
      response.trailers = trailers
      let whole = record.with(response: response).storing(record.storedRanges, bodyLength: body.count)
      // Nothing of a partial body is kept, as if it had been evicted at once.
      return record.isComplete ? try insert(whole, body, variantLimit: variantLimit) : record
    }
  }

  private func insert(
    _ record: CacheRecord, _ body: Body, variantLimit: Int
  ) throws(CacheError) -> CacheRecord {
    let new: CacheRecord? = try state.withLock { (state) throws(CacheError) in
      if let ticket = record.ticket, isWiped(record.key, since: ticket) {
        throw CacheError(.wiped, "while it was on its way", key: record.key)
      }
      let new = marked(record).with(sequence: state.lastSequence + 1).madeVisible()
      var entries = state.entries[new.key, default: []]
      if entries.contains(where: { new.isSuperseded(by: $0.record) }) { return nil }
      state.lastSequence += 1
      entries.removeAll { new.replaces($0.record) }
      entries.insert(Entry(record: new, body: body, lastUsed: clock.now), at: 0)
      state.entries[new.key] = Array(entries.prefix(variantLimit))
      return new
    }
    guard let new else { throw CacheError(.superseded, "a more recent response is stored", key: record.key) }
    return new
  }

  /// The record, marked if it is overtaken.
  private func marked(_ record: CacheRecord) -> CacheRecord {
    guard let ticket = record.ticket, isOvertaken(record.key, groups: record.groups, since: ticket) else {
      return record
    }
    return invalidated(record)
  }

  private func invalidated(_ record: CacheRecord) -> CacheRecord {
    var response = record.response
    response.isInvalidated = true
    return record.with(response: response)
  }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    state.withLock { state in
      guard var entries = state.entries[record.key],
        let index = entries.firstIndex(where: { $0.record.sequence == record.sequence })
      else { return false }
      let old = entries[index].record
      let isOlder = record.isSuperseded(by: old)
      var new = isOlder ? old : marked(record)
      // Without a ticket, nothing says that the response was validated after its invalidation.
      let isMarked =
        isOlder ? record.response.isInvalidated : record.ticket == nil && old.response.isInvalidated
      if isMarked { new = invalidated(new) }
      entries[index].record = isOlder ? new : new.madeVisible()
      state.entries[record.key] = entries
      return !isOlder
    }
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    change(selection) { _ in nil }
  }

  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    log.noteWipe(mode: mode, partition: partition)
    return try await remove(.partition(mode: mode, partition))
  }

  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    change(selection) { self.invalidated($0) }
  }

  /// Notes the selection first: a response that is committed meanwhile is then overtaken.
  private func change(_ selection: CacheSelection, _ change: (CacheRecord) -> CacheRecord?) -> Int {
    log.note(selection)
    return state.withLock { state in
      var count = 0
      state.entries = state.entries.mapValues { entries in
        entries.compactMap { entry in
          guard selection.matches(entry.record, lastUsed: entry.lastUsed) else { return entry }
          count += 1
          return change(entry.record).map { Entry(record: $0, body: entry.body, lastUsed: entry.lastUsed) }
        }
      }
      return count
    }
  }

  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    let start = UInt64(cursor?.position ?? 0)
    let matching = state.withLock { $0.entries.values.joined() }
      .filter { $0.record.sequence > start && selection.matches($0.record, lastUsed: $0.lastUsed) }
      .sorted { $0.record.sequence < $1.record.sequence }
    let page = matching.prefix(limit).map {
      CacheEntry(record: $0.record, size: $0.body.count, lastUsed: $0.lastUsed, bodyPath: nil)
    }
    let last = matching.count > limit ? page.last : nil
    return EntryPage(entries: page, next: last.map { EntryCursor(position: Int64($0.record.sequence)) })
  }
}
