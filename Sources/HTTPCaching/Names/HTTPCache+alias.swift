import HTTPCacheSemantics
import HTTPCacheStore
import HTTPTypes

/// Responses that several targets of an origin share under one name (`CacheAlias`). They are stored under the
/// name; a pointer is stored under the key of each target whose response named it.
extension HTTPCache {
  /// The target of the item that holds the responses of a key; nil where there is no pointer.
  func item(of key: CacheKey, rules: CacheRules) throws(CacheError) -> String? {
    guard rules.alias != nil, key.methodClass == .get else { return nil }
    return Self.item(try store.read(key.pointer).first, rules)
  }

  /// The variants in memory for a key that may have a pointer; nil if the disk tier may have more.
  func peekedItem(of key: CacheKey, rules: CacheRules) -> [StoredVariant]? {
    guard case .found(let pointers) = store.peek(key.pointer),
      let item = Self.item(pointers.first, rules), !isFound(key),
      case .found(let stored) = store.peek(key.with(target: item))
    else { return nil }
    return stored
  }

  /// A response stored under the target itself may be newer than the item.
  private func isFound(_ key: CacheKey) -> Bool {
    if case .found(let stored) = store.peek(key) { !stored.isEmpty } else { false }
  }

  /// The key of the item that a response names, nil if it names none. Writes the pointer first, or removes a
  /// pointer that is no longer valid.
  func itemKey(
    for exchange: Exchange, _ response: StoredResponse, isMemoryOnly: Bool
  ) async -> CacheKey? {
    let key = exchange.key
    guard let name = exchange.rules.alias, exchange.request.method == .get else { return nil }
    do throws(CacheError) {
      guard
        case .item(let item) = CacheAlias.read(
          name, in: response.head.headerFields, target: key.target)
      else {
        // Remove pointers one by one: a change of the target itself would overtake this response.
        for pointer in try store.read(key.pointer) {
          try await store.remove(.variant(pointer.record.key, sequence: pointer.record.sequence))
        }
        return nil
      }
      if Self.item(try store.read(key.pointer).first, exchange.rules) != item {
        try await write(
          pointer: Self.pointer(name, response), at: key.pointer,
          isPinned: exchange.rules.pins(response.head), isMemoryOnly: isMemoryOnly)
      }
      return key.with(target: item)
    } catch {
      observe(.storeFailed(operation: "store", error))
      return nil
    }
  }

  /// Removes a pointer to an item that is not stored, unless a transfer is storing the item.
  func forgetPointer(of exchange: Exchange) {
    let (key, rules) = (exchange.key, exchange.rules)
    guard rules.alias != nil, key.methodClass == .get, !running.contains(key.target),
      let pointer = try? store.read(key.pointer).first?.record
    else { return }
    background.begin { [self] in
      guard !running.contains(key.target), !running.contains(pointer.item ?? key.target),
        let stored = try? stored(for: key, rules: rules), stored.isEmpty
      else { return }
      _ = try? await store.remove(.variant(pointer.key, sequence: pointer.sequence))
    }
  }

  /// Writes the pointer to an item that was just stored, if the pointer was removed meanwhile because the
  /// item was missing: before the transfer began, or by another process.
  func restorePointer(
    to item: CacheKey, from key: CacheKey, alias: HTTPField.Name?, _ response: StoredResponse,
    isPinned: Bool, isMemoryOnly: Bool
  ) async {
    guard let alias, item != key,
      case .item(item.target) = CacheAlias.read(
        alias, in: response.head.headerFields, target: key.target)
    else { return }
    do throws(CacheError) {
      guard try store.read(key.pointer).isEmpty else { return }
      try await write(
        pointer: Self.pointer(alias, response), at: key.pointer, isPinned: isPinned,
        isMemoryOnly: isMemoryOnly)
    } catch {
      observe(.storeFailed(operation: "store", error))
    }
  }

  private static func item(_ pointer: StoredVariant?, _ rules: CacheRules) -> String? {
    guard let record = pointer?.record, record.response.isKeyed(by: rules),
      record.response.head.headerFields.first?.name == rules.alias
    else { return nil }
    return record.item
  }

  private static func pointer(_ name: HTTPField.Name, _ response: StoredResponse) -> StoredResponse {
    var pointer = response
    pointer.requestMethod = .get
    pointer.nominated = []
    pointer.trailers = [:]
    pointer.head = HTTPResponse(status: .noContent)
    pointer.head.headerFields[fields: name] = response.head.headerFields[fields: name]
    return pointer
  }

  /// Stores a response without a body that points to other entries, unless a more recent request stored
  /// another.
  func write(
    pointer: StoredResponse, at key: CacheKey, isPinned: Bool, isMemoryOnly: Bool
  ) async throws(CacheError) {
    let record = CacheRecord(
      key: key, response: pointer, bodyLength: 0, storedRanges: nil, groups: [], userInfo: [],
      isSeed: false, isPinned: isPinned, isMemoryOnly: isMemoryOnly, isResumable: false, sequence: 0,
      ticket: nil)
    let writer = try await store.write(record, variantLimit: 1)
    do throws(CacheError) { try await writer.commit(trailers: [:]) } catch {
      guard error.code == .superseded else { throw error }
    }
  }
}
