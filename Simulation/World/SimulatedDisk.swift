import HTTPCacheStore
import HTTPCaching

/// The files that the processes of a world share, as a model of `DiskStore`: a transaction is one step,
/// within which tickets are compared and generations rise.
///
/// `@unchecked Sendable` because only the thread that runs the simulation uses it.
final class SimulatedFiles: @unchecked Sendable {
  let entries: MemoryStore
  let changes = ChangeCounters()

  init(capacity: Int64, clock: any CacheClock) {
    entries = MemoryStore(
      capacity: capacity, largestEntry: .bytes(capacity), clock: clock, secret: Array(repeating: 7, count: 32)
    )
  }

  /// Makes copies in memory out of date.
  func raise(_ selection: CacheSelection) {
    if let key = selection.key { changes.raise(key.processHash) } else { changes.raise(selection) }
  }
}

/// The disk store of one process of a world. Each call pauses before and after it takes effect, and may fail.
final class SimulatedDisk: CacheStore, GenerationSource, TierBase {
  let files: SimulatedFiles
  let scheduler: Scheduler
  private let fails: @Sendable () -> Bool

  init(_ files: SimulatedFiles, _ scheduler: Scheduler, fails: @escaping @Sendable () -> Bool) {
    self.files = files
    self.scheduler = scheduler
    self.fails = fails
  }

  func begin(mayFail: Bool = false) async throws(CacheError) {
    _ = await scheduler.pause(.storeBegin, isCancellable: false)
    if mayFail, fails() { throw CacheError(.io, "simulated") }
  }

  func end() async { _ = await scheduler.pause(.storeEnd, isCancellable: false) }

  func generation(of key: CacheKey) -> Generation {
    let selections = files.changes.selections
    return Generation(changes: files.changes.generation(of: key.processHash), selections: selections)
  }

  func hasSelected(_ key: CacheKey, groups: [String], since selections: UInt64) -> Bool {
    files.changes.hasSelected(key, groups: groups, since: selections)
  }

  func isKnownAbsent(_ key: CacheKey) -> Bool { files.entries.isKnownAbsent(key) }
  func ticket() -> InvalidationTicket { files.entries.ticket() }

  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool {
    files.entries.isOvertaken(key, groups: groups, since: ticket)
  }

  func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool {
    files.entries.isWiped(key, since: ticket)
  }

  func recordUses(_ uses: [KeyUses]) { files.entries.recordUses(uses) }

  func variants(of key: CacheKey) throws(CacheError) -> [StoredVariant] {
    wrap(try files.entries.variants(of: key))
  }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    if fails() { throw CacheError(.io, "simulated") }
    return wrap(try files.entries.read(key))
  }

  private func wrap(_ variants: [StoredVariant]) -> [StoredVariant] {
    variants.map { variant in
      StoredVariant(
        record: variant.record, body: SimulatedFile(variant.body, scheduler))
    }
  }

  func write(_ record: CacheRecord, variantLimit: Int) async throws(CacheError) -> any BodyWriter {
    try await begin(mayFail: true)
    return SimulatedWriter(try await files.entries.write(record, variantLimit: variantLimit), self)
  }

  func extend(_ record: CacheRecord, at offset: Int64) async throws(CacheError) -> any BodyWriter {
    try await begin(mayFail: true)
    return SimulatedWriter(try await files.entries.extend(record, at: offset), self)
  }

  func note(_ refusal: RefusalNote) { files.entries.note(refusal) }
  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] { try files.entries.refusals(of: key) }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    try await begin(mayFail: true)
    let isThere = try await files.entries.update(record)
    if isThere { files.raise(.key(record.key)) }
    await end()
    return isThere
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    try await begin()
    let count = try await files.entries.remove(selection)
    files.raise(selection)
    await end()
    return count
  }

  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    try await begin()
    let count = try await files.entries.wipe(mode: mode, partition: partition)
    files.raise(.partition(mode: mode, partition))
    await end()
    return count
  }

  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    try await begin()
    let count = try await files.entries.mark(selection, as: mark)
    files.raise(selection)
    await end()
    return count
  }

  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    try await begin()
    return try await files.entries.entries(selection, after: cursor, limit: limit)
  }

  var usage: StoreUsage {
    let usage = files.entries.usage
    return StoreUsage(
      diskBytes: usage.memoryBytes, diskCapacity: usage.memoryCapacity, diskEntries: usage.memoryEntries)
  }

  var secret: [UInt8] { files.entries.secret }
  func count(_ counts: CacheCounts) { files.entries.count(counts) }
  func counts() async throws(CacheError) -> CacheCounts { try await files.entries.counts() }
  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    try await files.entries.setCapacity(memory: disk, disk: nil)
  }
  func flush() async {}
}

/// Writes a body to the simulated disk.
final class SimulatedWriter: BodyWriter {
  private let base: any BodyWriter
  private let disk: SimulatedDisk

  init(_ base: any BodyWriter, _ disk: SimulatedDisk) {
    self.base = base
    self.disk = disk
  }

  var bytesWritten: Int64 { base.bytesWritten }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    try await disk.begin(mayFail: true)
    try await base.append(bytes)
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    try await disk.begin(mayFail: true)
    return await finish(try await base.commit(trailers: trailers))
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    try await disk.begin()
    guard let record = try await base.keep() else { return nil }
    return await finish(record)
  }

  private func finish(_ stored: CacheRecord) async -> CacheRecord {
    disk.files.raise(.key(stored.key))
    await disk.end()
    return stored
  }

  func abandon() { base.abandon() }
  func reader() throws(CacheError) -> any BodyReader { SimulatedReader(try base.reader(), disk.scheduler) }
}

/// A body in a simulated file: it is not in memory, and reading it takes a step.
final class SimulatedFile: StoredBody {
  private let base: any StoredBody
  private let scheduler: Scheduler

  init(_ base: any StoredBody, _ scheduler: Scheduler) {
    self.base = base
    self.scheduler = scheduler
  }

  func open() throws(CacheError) -> any BodyReader { SimulatedReader(try base.open(), scheduler) }
}

final class SimulatedReader: BodyReader {
  private let base: any BodyReader
  private let scheduler: Scheduler

  init(_ base: any BodyReader, _ scheduler: Scheduler) {
    self.base = base
    self.scheduler = scheduler
  }

  var length: Int64? { base.length }
  var availableRanges: [Range<Int64>] { base.availableRanges }
  var bytesInMemory: BodyBytes? { nil }
  var fileRegion: FileRegion? { nil }

  func read(_ range: Range<Int64>) async throws(CacheError) -> BodyBytes {
    _ = await scheduler.pause(.storeRead, isCancellable: false)
    return try await base.read(range)
  }

  func clone(to path: String) async throws(CacheError) { try await base.clone(to: path) }
}
