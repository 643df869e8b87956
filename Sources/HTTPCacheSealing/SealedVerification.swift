import HTTPCacheSemantics
public import HTTPCacheStore

/// The result of `SealedStore.verify(repair:)`.
public struct SealedVerification: Sendable {
  /// The number of checked responses, sealed with this key.
  public internal(set) var entries = 0
  /// The number of body bytes that were opened.
  public internal(set) var bytes: Int64 = 0
  /// Damaged entries: the target, if known, and the reason.
  public internal(set) var findings: [String] = []
  /// Whether the damaged entries were removed.
  public internal(set) var isRepaired = false

  /// Makes a result of no checks.
  public init() {}

  /// Whether no entry is damaged.
  public var isSound: Bool { findings.isEmpty }
}

extension SealedStore {
  /// Opens every record and every chunk that was sealed with this key.
  ///
  /// - Parameter repair: whether to remove damaged entries.
  @concurrent
  public func verify(repair: Bool = false) async throws(CacheError) -> SealedVerification {
    var report = SealedVerification()
    try await base.forEachEntry(.prefix(names.prefix)) { (entry) async throws(CacheError) in
      let below = entry.record
      guard let finding = try await check(below, &report) else { return }
      report.findings.append(finding)
      if repair { try await base.remove(.variant(below.key, sequence: below.sequence)) }
    }
    report.isRepaired = repair && !report.isSound
    return report
  }

  private func check(
    _ below: CacheRecord, _ report: inout SealedVerification
  ) async throws(CacheError) -> String? {
    report.entries += 1
    var target = below.key.target
    do throws(CacheError) {
      guard let opened = try SealedRecord.open(below, cipher: cipher, names: names) else { return nil }
      let record = opened.record
      target = record.key.target
      guard names.key(record.key) == below.key else {
        throw CacheError(.damaged, "a record of something else")
      }
      let variants =
        if let tierBase { try tierBase.variants(of: below.key) } else { try base.read(below.key) }
      // It may have been removed since it was listed.
      guard let stored = variants.first(where: { $0.record.sequence == below.sequence }) else {
        return nil
      }
      let chunks = SealedChunks(
        try stored.body.open(), of: opened.bodyID, cipher: cipher, onDamage: { _ in })
      if record.bodyLength == 0 { try await chunks.checkEmpty() }
      for range in record.storedRanges ?? [0..<(record.bodyLength ?? 0)] {
        var position = range.lowerBound
        while position < range.upperBound {
          let end = min(range.upperBound, position + 4 * layout.chunk)
          report.bytes += Int64(try await chunks.read(position..<end, length: record.bodyLength).count)
          position = end
        }
      }
      return nil
    } catch {
      guard error.code == .damaged else { throw error }
      return "\(target): \(error.message)"
    }
  }
}
