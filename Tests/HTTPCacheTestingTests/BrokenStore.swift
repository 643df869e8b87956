import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// A store with one fault.
final class BrokenStore: CacheStore {
  enum Fault: String, CaseIterable, Sendable {
    case none, losesLastByte, commitsWhatIsAbandoned, ignoresPartition, ignoresVary
    case losesTrailers, ignoresInvalidation, updatesNothing, removesTooMuch, shortListing
    case wrongUsage, keepsCapacity, noCounters, acceptsAnyLength
    case keepsWhatIsNotResumable, keepsNothing, extendsFromTheStart, forgetsRefusals

    /// A part of the name of a check that has to find it.
    var expected: String {
      switch self {
      case .none: "nothing"
      case .losesLastByte: "byte for byte"
      case .commitsWhatIsAbandoned: "abandoned writer"
      case .ignoresPartition: "partitions do not see"
      case .ignoresVary: "Variants are told apart"
      case .losesTrailers: "Trailers"
      case .ignoresInvalidation: "invalidated"
      case .updatesNothing: "An update replaces"
      case .removesTooMuch: "Selected alone"
      case .shortListing: "in pages"
      case .wrongUsage: "Usage is exact"
      case .keepsCapacity: "smaller capacity"
      case .noCounters: "Counters"
      case .acceptsAnyLength: "as long as announced"
      case .keepsWhatIsNotResumable: "not resumable"
      case .keepsNothing: "breaks off"
      case .extendsFromTheStart: "is added to a part"
      case .forgetsRefusals: "was not stored is remembered"
      }
    }
  }

  let base: MemoryStore
  let fault: Fault

  init(_ base: MemoryStore, fault: Fault) {
    self.base = base
    self.fault = fault
  }

  private func bent(_ key: CacheKey) -> CacheKey {
    guard fault == .ignoresPartition else { return key }
    return CacheKey(
      mode: key.mode, methodClass: key.methodClass, target: key.target,
      contentDigest: key.contentDigest)
  }

  func peek(_ key: CacheKey) -> PeekResult { .unknown }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { try base.read(bent(key)) }

  func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    var response = record.response
    if fault == .ignoresVary { response.nominated = [] }
    let bentRecord = CacheRecord(
      key: bent(record.key), response: response,
      bodyLength: fault == .acceptsAnyLength || fault == .losesLastByte ? nil : record.bodyLength,
      storedRanges: record.storedRanges, groups: record.groups, userInfo: record.userInfo,
      isSeed: record.isSeed, isPinned: record.isPinned,
      isResumable: record.isResumable || fault == .keepsWhatIsNotResumable)
    return BrokenWriter(
      try await base.write(bentRecord, variantLimit: variantLimit), fault: fault)
  }

  func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    BrokenWriter(
      try await base.extend(record, at: fault == .extendsFromTheStart ? 0 : offset), fault: fault)
  }

  func note(_ refusal: RefusalNote) { if fault != .forgetsRefusals { base.note(refusal) } }
  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] {
    try base.refusals(of: key)
  }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    fault == .updatesNothing ? true : try await base.update(record)
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    guard fault == .removesTooMuch, case .prefix = selection else {
      return try await base.remove(selection)
    }
    return try await base.remove(.all)
  }

  func invalidate(_ selection: CacheSelection) async throws(CacheError) -> Int? {
    fault == .ignoresInvalidation ? nil : try await base.invalidate(selection)
  }

  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    let page = try await base.entries(selection, after: cursor, limit: limit)
    return fault == .shortListing ? EntryPage(entries: page.entries, next: nil) : page
  }

  var usage: StoreUsage {
    var usage = base.usage
    if fault == .wrongUsage { usage.memoryBytes += 1 }
    return usage
  }

  var secret: [UInt8] { base.secret }
  func count(_ counts: CacheCounts) { if fault != .noCounters { base.count(counts) } }
  func counts() async throws(CacheError) -> CacheCounts { try await base.counts() }

  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    if fault != .keepsCapacity { try await base.setCapacity(memory: memory, disk: disk) }
  }

  func flush() async {}
}

/// The writer of a store with a fault.
final class BrokenWriter: BodyWriter {
  private let base: any BodyWriter
  private let fault: BrokenStore.Fault

  init(_ base: any BodyWriter, fault: BrokenStore.Fault) {
    self.base = base
    self.fault = fault
  }

  var bytesWritten: Int64 { base.bytesWritten }

  func append(_ bytes: BodyBytes) async throws(CacheError) {
    try await base.append(fault == .losesLastByte ? bytes.prefix(bytes.count - 1) : bytes)
  }

  func commit(trailers: HTTPFields) async throws(CacheError) -> CacheRecord {
    try await base.commit(trailers: fault == .losesTrailers ? [:] : trailers)
  }

  func keep() async throws(CacheError) -> CacheRecord? {
    if fault == .keepsNothing { return nil }
    return try await base.keep()
  }

  func abandon() { if fault != .commitsWhatIsAbandoned { base.abandon() } }
  func reader() throws(CacheError) -> any BodyReader { try base.reader() }
}
