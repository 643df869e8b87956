public import HTTPCacheSemantics

extension SeedLayer {
  // The variants of a key below while a seed is copied; the limit of the request is not known here.
  private static let variantLimit = 64

  /// Replaces the record of an entry of the store below; copies a seed into the store below with its new record,
  /// or marks it as invalidated.
  ///
  /// - Returns: whether the record is stored. A seed that is too large for the store below stays as it is.
  /// - Throws: what the store below throws; `CacheError.io` if the mark cannot be written.
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    guard record.sequence >= Self.firstSequence else { return try await base.update(record) }
    guard let seed = seeded(record.key).first(where: { $0.record.sequence == record.sequence }) else {
      return false
    }
    let target = InvalidationScope.target(record.key.target)
    if record.response.isInvalidated {
      try mark(.invalidated, [target])
      return true
    }
    if record.ticket == nil, seed.record.response.isInvalidated { return false }
    do throws(CacheError) {
      try await copy(seed, as: record.with(sequence: 0))
      return true
    } catch {
      // Not failures of the store: the seed is validated again at its next use.
      if [.tooLarge, .notAdmitted, .superseded, .wiped].contains(error.code) { return false }
      throw error
    }
  }

  private func copy(_ seed: StoredVariant, as record: CacheRecord) async throws(CacheError) {
    let reader = try seed.body.open()
    let length = max(0, seed.record.bodyLength ?? 0)
    let writer = try await base.write(record, variantLimit: Self.variantLimit)
    try await reader.readPieces(of: 0..<length) { (bytes) async throws(CacheError) in
      try await writer.append(bytes)
    }
    try await writer.commit(trailers: record.response.trailers)
  }

  /// Removes the entries of the store below that match, and hides the seeds that match.
  ///
  /// - Returns: the number of responses removed. Of seeds, only those of one target are counted.
  /// - Throws: `CacheError.io` if the mark cannot be written; what the store below throws. The other of both is
  ///   changed nevertheless.
  @discardableResult
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    let hidden = seeds(of: selection).count
    let failure = change(.removed, selection)
    let removed = try await base.remove(selection)
    if let failure { throw failure }
    return removed + hidden
  }

  /// Marks the entries of the store below that match. Invalidates the seeds that match, whatever the mark is.
  ///
  /// - Returns: the number of responses that match, or nil if the store below does not count. Of seeds, only
  ///   those of one target are counted.
  /// - Throws: `CacheError.io` if the mark cannot be written; what the store below throws. The other of both is
  ///   changed nevertheless.
  @discardableResult
  public func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    let changed = seeds(of: selection).count
    let failure = change(.invalidated, selection)
    let count = try await base.mark(selection, as: mark)
    if let failure { throw failure }
    return count.map { $0 + changed }
  }

  private func change(_ kind: SeedMarks.Kind, _ selection: CacheSelection) -> CacheError? {
    do throws(CacheError) {
      try mark(kind, try scopes(of: selection))
      return nil
    } catch { return error }
  }

  private func mark(_ kind: SeedMarks.Kind, _ scopes: [InvalidationScope]) throws(CacheError) {
    guard !scopes.isEmpty else { return }
    // On a device whose clock is behind, the seeds may seem to come from the future.
    let newest = seeds.map(\.newest).max() ?? clock.now
    try marks.add(kind, scopes, until: max(clock.now, newest))
  }

  /// The visible seeds that a selection of one target includes.
  private func seeds(of selection: CacheSelection) -> [StoredVariant] {
    switch selection {
    case .key(let key): visible(key)
    case .variant(let key, let sequence): visible(key).filter { $0.record.sequence == sequence }
    case .target(let target): visible(CacheKey(mode: mode, target: target))
    case .all, .partition, .prefix, .site, .group, .storedSince, .unusedSince, .storedBefore: []
    }
  }

  private func visible(_ key: CacheKey) -> [StoredVariant] {
    guard let stored = try? base.read(key), !Self.hide(stored.map(\.record)) else { return [] }
    return seeded(key)
  }

  /// The scopes to mark for a selection; none if no seed can match.
  private func scopes(of selection: CacheSelection) throws(CacheError) -> [InvalidationScope] {
    switch selection {
    case .all, .partition, .site:
      return InvalidationScope.all(of: selection)
    case .group(let origin, let name): return [.group(origin: origin, name: name)]
    case .key(let key): return hasSeeds(key.target) ? [.target(key.target)] : []
    case .target(let target): return hasSeeds(target) ? [.target(target)] : []
    case .variant(let key, let sequence):
      return sequence >= Self.firstSequence ? [.target(key.target)] : []
    case .prefix(let prefix):
      if prefix.utf8.elementsEqual((CacheKey.origin(of: prefix) + "/").utf8) {
        return InvalidationScope.all(of: selection)
      }
      return try targets(startingWith: prefix).map { .target($0) }
    case .storedSince, .unusedSince, .storedBefore: return []
    }
  }

  private func hasSeeds(_ target: String) -> Bool {
    seeds.contains { source in
      // A source that fails may have the target.
      (try? source.responses(to: target).isEmpty) != true
    }
  }

  private func targets(startingWith prefix: String) throws(CacheError) -> Set<String> {
    var found: Set<String> = []
    for source in seeds {
      var position = 0
      while position < source.count {
        let page = try source.responses(from: position, limit: 256)
        if page.isEmpty { break }
        for seed in page where seed.target.utf8.starts(with: prefix.utf8) { found.insert(seed.target) }
        position += page.count
      }
    }
    return found
  }
}
