import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Responses for which parts of the query do not matter (draft-ietf-httpbis-no-vary-search §7). They are
/// stored under the canonical form of their target. The latest rule that a response gave for the path makes
/// the canonical form of later targets.
extension HTTPCache {
  /// The stored variants for a key, most recent first.
  ///
  /// - Parameter rules: the rules, resolved for the request.
  func stored(for key: CacheKey, rules: CacheRules) throws(CacheError) -> [StoredVariant] {
    failedChanges.applied(to: try found(for: key, rules: rules))
  }

  private func found(for key: CacheKey, rules: CacheRules) throws(CacheError) -> [StoredVariant] {
    let exact = try read(key, rules)
    if let item = try item(of: key, rules: rules) {
      return Self.latestFirst(exact, try store.read(key.with(target: item)))
    }
    guard configuration.rules.obeysNoVarySearch, key.methodClass == .get,
      let rule = try store.read(key.searchRule).first
    else { return exact }
    let canonical = Self.variance(rule).canonical(key.target)
    guard canonical != key.target else { return exact }
    // The rule may come from a later response: each response's own rule decides.
    let others = try read(key.with(target: canonical), rules).filter {
      Self.variance($0).canonical(key.target) == canonical
    }
    return Self.latestFirst(exact, others)
  }

  /// The variants of a key, without those for which different overrides made the key.
  private func read(_ key: CacheKey, _ rules: CacheRules) throws(CacheError) -> [StoredVariant] {
    let variants = try store.read(key)
    if variants.allSatisfy({ $0.record.response.isKeyed(by: rules) }) { return variants }
    return variants.filter { $0.record.response.isKeyed(by: rules) }
  }

  private static func latestFirst(
    _ exact: [StoredVariant], _ others: [StoredVariant]
  ) -> [StoredVariant] {
    if others.isEmpty || exact.isEmpty { return exact + others }
    return (exact + others).enumerated().sorted { first, second in
      let (time, other) = (
        first.element.record.response.responseTime, second.element.record.response.responseTime
      )
      return time == other ? first.offset < second.offset : time > other
    }.map(\.element)
  }

  /// The key under which a response is stored. If the key needs a rule, writes the rule first.
  ///
  /// - Parameter isMemoryOnly: whether the response must not be written to disk.
  func storageKey(
    for exchange: Exchange, _ response: StoredResponse, isMemoryOnly: Bool
  ) async -> CacheKey {
    let key = exchange.key
    if let item = await itemKey(for: exchange, response, isMemoryOnly: isMemoryOnly) { return item }
    guard configuration.rules.obeysNoVarySearch, exchange.request.method == .get else { return key }
    let variance = SearchVariance(response.head.headerFields)
    guard !variance.isDefault else { return key }
    do throws(CacheError) {
      try await write(variance, of: response, for: key, isMemoryOnly: isMemoryOnly)
      return key.with(target: variance.canonical(key.target))
    } catch {
      observe(.storeFailed(operation: "store", error))
      return key
    }
  }

  private func write(
    _ variance: SearchVariance, of response: StoredResponse, for key: CacheKey, isMemoryOnly: Bool
  ) async throws(CacheError) {
    let rules = try store.read(key.searchRule)
    if let rule = rules.first, Self.variance(rule) == variance { return }
    try await invalidateShared(key)
    var rule = response
    rule.requestMethod = .get
    rule.nominated = []
    rule.trailers = [:]
    rule.head = HTTPResponse(status: .noContent)
    rule.head.headerFields = response.head.headerFields.filter {
      $0.name.canonicalName == "no-vary-search"
    }
    try await write(pointer: rule, at: key.searchRule, isPinned: false, isMemoryOnly: isMemoryOnly)
  }

  /// Invalidates entries that were stored for the path of a key under other rules: an unsafe method could not
  /// find them while another rule, or none, was valid.
  private func invalidateShared(_ key: CacheKey) async throws(CacheError) {
    let path = SearchVariance.path(of: key.target)
    for selection in [CacheSelection.target(path), .prefix(path + "?")] {
      var cursor: EntryCursor?
      repeat {
        let page = try await store.entries(selection, after: cursor, limit: 256)
        for record in page.entries.map(\.record)
        where record.key.methodClass == .get && record.key.partition == key.partition
          && record.key.mode == key.mode
          && !SearchVariance(record.response.head.headerFields).isDefault
        {
          try await store.invalidate(.variant(record.key, sequence: record.sequence))
        }
        cursor = page.next
      } while cursor != nil
    }
  }

  private static func variance(_ variant: StoredVariant) -> SearchVariance {
    SearchVariance(variant.record.response.head.headerFields)
  }
}
