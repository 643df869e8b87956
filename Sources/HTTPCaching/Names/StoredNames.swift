import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// The names under which a response is stored besides its own key: the item that several targets share (`CacheAlias`),
/// or the canonical form of its target (draft-ietf-httpbis-no-vary-search §7). For each there is a pointer in the
/// store: a response without a body.
final class StoredNames: Sendable {
  private let shelf: Shelf
  private let background: BackgroundWork

  init(shelf: Shelf, background: BackgroundWork) {
    self.shelf = shelf
    self.background = background
  }

  private var store: any CacheStore { shelf.store }

  // MARK: Reading

  /// A name under which more responses to a key may be stored.
  struct Other {
    let key: CacheKey
    /// Whether a response that is stored under this name answers requests for the key.
    let holds: (CacheRecord) -> Bool
  }

  /// The other name of a key; nil if it has none.
  ///
  /// - Parameter rules: the rules, resolved for the request.
  func other(of key: CacheKey, rules: CacheRules) throws(CacheError) -> Other? {
    if rules.alias != nil, key.methodClass == .get,
      let other = Self.item(of: key, by: try store.read(key.pointer).first?.record, rules)
    {
      return other
    }
    guard shelf.rules.obeysNoVarySearch, key.methodClass == .get else { return nil }
    return Self.canonical(of: key, by: try store.read(key.searchRule).first?.record, rules)
  }

  /// The item that a pointer of a key names.
  static func item(of key: CacheKey, by pointer: CacheRecord?, _ rules: CacheRules) -> Other? {
    item(pointer, rules).map { Other(key: key.with(target: $0)) { _ in true } }
  }

  /// The canonical form of a key by the rule of its path.
  static func canonical(of key: CacheKey, by rule: CacheRecord?, _ rules: CacheRules) -> Other? {
    guard let rule else { return nil }
    let canonical = variance(rule).canonical(key.target)
    guard canonical != key.target else { return nil }
    // The rule may come from a later response: each response's own rule decides.
    return Other(key: key.with(target: canonical)) {
      $0.response.isKeyed(by: rules) && variance($0).canonical(key.target) == canonical
    }
  }

  /// The variants in memory for a key that may have an item; nil if the store below may have more.
  func itemInMemory(of key: CacheKey, rules: CacheRules) -> [StoredVariant]? {
    // Not through the store of a fleet, as in `Lookup.inMemory`.
    let store = shelf.localStore
    guard let item = Self.item(store.peek(key.pointer)?.first?.record, rules),
      // A response stored under the target itself may be newer than the item.
      store.peek(key)?.isEmpty != false
    else { return nil }
    return store.peek(key.with(target: item))
  }

  // MARK: Writing

  /// The key under which a response is stored. If the key needs a pointer, writes the pointer first, or removes
  /// one that is no longer valid.
  ///
  /// - Parameter ticket: the ticket of the request.
  func storageKey(
    for exchange: Exchange, _ terms: StoringTerms, ticket: InvalidationTicket?
  ) async -> CacheKey {
    let key = exchange.key
    guard exchange.request.method == .get else { return key }
    do throws(CacheError) {
      if let item = try await itemKey(for: exchange, terms, ticket: ticket) { return item }
      guard shelf.rules.obeysNoVarySearch else { return key }
      let variance = SearchVariance(terms.response.head.headerFields)
      guard !variance.isDefault else { return key }
      try await write(variance, for: key, terms, ticket: ticket)
      return key.with(target: variance.canonical(key.target))
    } catch {
      shelf.observers.tell(.storeFailed(operation: "store", error))
      return key
    }
  }

  private func itemKey(
    for exchange: Exchange, _ terms: StoringTerms, ticket: InvalidationTicket?
  ) async throws(CacheError) -> CacheKey? {
    let key = exchange.key
    guard let name = exchange.rules.alias else { return nil }
    let fields = terms.response.head.headerFields
    guard case .item(let item) = CacheAlias.read(name, in: fields, target: key.target) else {
      // Remove pointers one by one: a change of the target itself would overtake this response.
      for pointer in try store.read(key.pointer) { await shelf.discard(pointer.record) }
      return nil
    }
    if Self.item(try store.read(key.pointer).first?.record, exchange.rules) != item {
      try await write(pointerKeeping: name, at: key.pointer, terms, ticket: ticket)
    }
    return key.with(target: item)
  }

  /// Removes a pointer to an item that is not stored, unless a transfer is storing the item.
  ///
  /// - Parameter isStored: whether something is stored for the key after all.
  func forgetPointer(of key: CacheKey, rules: CacheRules, unless isStored: @escaping @Sendable () -> Bool) {
    guard rules.alias != nil, key.methodClass == .get, !shelf.running.contains(key.target),
      let pointer = try? store.read(key.pointer).first?.record
    else { return }
    background.begin { [shelf] in
      guard !shelf.running.contains(key.target), !shelf.running.contains(pointer.item ?? key.target),
        !isStored()
      else { return }
      await shelf.discard(pointer)
    }
  }

  /// Writes the pointer to an item that was just stored, if the pointer was removed meanwhile because the
  /// item was missing: before the transfer began, or by another process.
  ///
  /// - Parameters:
  ///   - alias: the field that names the item.
  ///   - ticket: the ticket of the request.
  func restorePointer(
    to item: CacheKey, from key: CacheKey, alias: HTTPField.Name?, _ terms: StoringTerms,
    ticket: InvalidationTicket?
  ) async {
    guard let alias, item != key,
      case .item(item.target) = CacheAlias.read(
        alias, in: terms.response.head.headerFields, target: key.target)
    else { return }
    do throws(CacheError) {
      guard try store.read(key.pointer).isEmpty else { return }
      try await write(pointerKeeping: alias, at: key.pointer, terms, ticket: ticket)
    } catch {
      shelf.observers.tell(.storeFailed(operation: "store", error))
    }
  }

  private func write(
    _ variance: SearchVariance, for key: CacheKey, _ terms: StoringTerms, ticket: InvalidationTicket?
  ) async throws(CacheError) {
    if let rule = try store.read(key.searchRule).first, Self.variance(rule.record) == variance { return }
    try await invalidateShared(key)
    try await write(pointerKeeping: FieldNames.noVarySearch, at: key.searchRule, terms, ticket: ticket)
  }

  /// Invalidates entries that were stored for the path of a key under other rules: an unsafe method could not
  /// find them while another rule, or none, was valid.
  private func invalidateShared(_ key: CacheKey) async throws(CacheError) {
    let path = SearchVariance.path(of: key.target)
    for selection in [CacheSelection.target(path), .prefix(path + "?")] {
      try await store.forEachEntry(selection) { (entry) async throws(CacheError) in
        let record = entry.record
        guard record.key.methodClass == .get, record.key.partition == key.partition,
          record.key.mode == key.mode, !Self.variance(record).isDefault
        else { return }
        try await shelf.invalidate(record)
      }
    }
  }

  /// Stores a pointer, unless a more recent request stored another.
  ///
  /// - Parameter name: the field that names where it points.
  private func write(
    pointerKeeping name: HTTPField.Name, at key: CacheKey, _ terms: StoringTerms, ticket: InvalidationTicket?
  ) async throws(CacheError) {
    try await shelf.write(
      pointer: CacheRecord(
        key: key, response: Self.pointer(terms.response, keeping: name), bodyLength: 0,
        // A rule is for all targets of its path.
        isPinned: terms.isPinned && key.methodClass == .pointer, isMemoryOnly: terms.isMemoryOnly,
        ticket: ticket))
  }

  private static func pointer(_ response: StoredResponse, keeping name: HTTPField.Name) -> StoredResponse {
    var pointer = response
    pointer.requestMethod = .get
    pointer.nominated = []
    pointer.trailers = [:]
    pointer.head = HTTPResponse(status: .noContent)
    pointer.head.headerFields[fields: name] = response.head.headerFields[fields: name]
    return pointer
  }

  private static func item(_ pointer: CacheRecord?, _ rules: CacheRules) -> String? {
    guard let record = pointer, record.response.isKeyed(by: rules),
      record.response.head.headerFields.first?.name == rules.alias
    else { return nil }
    return record.item
  }

  private static func variance(_ record: CacheRecord) -> SearchVariance {
    SearchVariance(record.response.head.headerFields)
  }
}
