import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes

/// A store with one fault.
final class BrokenStore: StoreLayer {
  private let memory: MemoryStore
  var base: any CacheStore { memory }
  let fault: Fault
  let files: BrokenFiles?

  init(_ base: MemoryStore, fault: Fault) throws(CacheError) {
    memory = base
    self.fault = fault
    files = fault.hasFiles ? try BrokenFiles(half: fault == .halfBodyPath) : nil
  }

  private func bent(_ key: CacheKey) -> CacheKey {
    guard fault == .ignoresPartition else { return key }
    return CacheKey(
      mode: key.mode, methodClass: key.methodClass, target: key.target,
      contentDigest: key.contentDigest)
  }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    try base.read(bent(key)).map { variant in
      StoredVariant(record: variant.record, body: BrokenBody(variant, fault: fault, files: files))
    }
  }

  var isInMemoryOnly: Bool { false }
  func peek(_ key: CacheKey) -> [StoredVariant]? { nil }

  func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    var response = record.response
    if fault == .ignoresVary { response.nominated = [] }
    let bentRecord = CacheRecord(
      key: bent(record.key), response: response,
      bodyLength: fault == .acceptsAnyLength || fault == .losesLastByte ? nil : record.bodyLength,
      storedRanges: record.storedRanges, groups: record.groups, userInfo: record.userInfo,
      isSeed: record.isSeed, isPinned: record.isPinned && fault != .pinsNothing,
      isMemoryOnly: record.isMemoryOnly,
      isResumable: record.isResumable || fault == .keepsWhatIsNotResumable, sequence: record.sequence,
      ticket: fault == .ignoresTickets ? nil : record.ticket)
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

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    let stored = try memory.variants(of: record.key).map(\.record)
    guard let old = stored.first(where: { $0.sequence == record.sequence }) else { return false }
    switch fault {
    case .updatesNothing: return true
    case .keepsOldGroups: return try await base.update(record.with(groups: old.groups))
    case .losesPin: return try await base.update(record.with(isPinned: false))
    case .keepsOldPin: return try await base.update(record.with(isPinned: old.isPinned))
    case .updatesFromOldState:
      await Task.yield()
      for other in stored where other !== old { _ = try await base.update(other) }
    case .updatesInSteps:
      _ = try await base.update(old.with(response: record.response, userInfo: record.userInfo))
      await Task.yield()
      let now = try memory.variants(of: record.key).map(\.record)
      guard let new = now.first(where: { $0.sequence == record.sequence }) else { return false }
      return try await base.update(new.with(groups: record.groups, isPinned: record.isPinned))
    default: break
    }
    return try await base.update(record)
  }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    switch (fault, selection) {
    case (.removesTooMuch, .prefix): try await base.remove(.all)
    case (.removesAllVariants, .variant(let key, _)): try await base.remove(.key(key))
    case (.findsReplacedVariants, .variant(let key, _)):
      try await base.remove(try base.read(key).count == 1 ? .key(key) : selection)
    default: try await base.remove(selection)
    }
  }

  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    switch (fault, selection) {
    case (.ignoresInvalidation, _): nil
    case (.marksAllVariants, .variant(let key, _)): try await base.mark(.key(key), as: mark)
    default: try await base.mark(selection, as: mark)
    }
  }

  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    var selection = selection
    if fault == .listsAllVariants, let key = selection.key { selection = .key(key) }
    let page = try await base.entries(selection, after: cursor, limit: limit)
    var entries: [CacheEntry] = []
    for entry in page.entries {
      let path = fault == .wrongBodyPath ? "/nowhere" : try bodyPath(of: entry.record)
      entries.append(entry.with(record: entry.record, bodyPath: path))
    }
    return EntryPage(entries: entries, next: fault == .shortListing ? nil : page.next)
  }

  private func bodyPath(of record: CacheRecord) throws(CacheError) -> String? {
    let variants = try memory.variants(of: record.key)
    return variants.first { $0.record.sequence == record.sequence }.flatMap {
      files?.file(of: $0)?.path
    }
  }

  func trimMemory(to bytes: Int64) {
    switch fault {
    case .trimsNothing: break
    case .trimsTooMuch: base.trimMemory(to: 0)
    default: base.trimMemory(to: bytes)
    }
  }

  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    let selection = CacheSelection.partition(mode: mode, partition)
    if fault != .wipesNoFiles {
      for entry in try await base.entries(selection, after: nil, limit: 1_000).entries {
        files?.remove(entry.record)
      }
    }
    switch fault {
    case .wipesNothing:
      return try await base.entries(selection, after: nil, limit: 1_000).entries.count
    case .wipesEverything:
      let count = try await base.remove(selection)
      try await base.remove(.all)
      return count
    case .storesWhatWasWiped: return try await base.remove(selection)
    default: return try await base.wipe(mode: mode, partition: partition)
    }
  }

  var usage: StoreUsage {
    var usage = base.usage
    if fault == .wrongUsage { usage.memoryBytes += 1 }
    return usage
  }

  func count(_ counts: CacheCounts) { if fault != .noCounters { base.count(counts) } }

  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) {
    if fault != .keepsCapacity { try await base.setCapacity(memory: memory, disk: disk) }
  }
}
