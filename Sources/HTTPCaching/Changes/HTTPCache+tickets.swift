import HTTPCacheSemantics
import HTTPCacheStore

extension HTTPCache {
  /// A request for a key wants the origin: whether it leads, waits for another request or shares its answer.
  func join(_ key: CacheKey) -> CoalescingTurn {
    coalescing.join(key, ticket: store.ticket()) { groups, ticket in
      store.isOvertaken(key, groups: groups, since: ticket)
    }
  }
}

extension Exchange.Forward {
  /// The ticket for a response that is stored under a key.
  ///
  /// - Parameters:
  ///   - key: under which the response is stored.
  ///   - requestKey: of the request: a change of its target changes the response, too.
  func ticket(for key: CacheKey, _ requestKey: CacheKey) -> InvalidationTicket? {
    guard key != requestKey, var ticket else { return ticket }
    ticket.requestTarget = requestKey.target
    return ticket
  }
}

extension HTTPCache {
  /// Takes note of a transfer before it starts. A partition that was removed for good after the request was sent
  /// gets nothing of its response, nor of the names that were written for it.
  ///
  /// - Parameters:
  ///   - key: of the request.
  ///   - storageKey: under which the response is stored.
  func begin(
    _ transfer: Transfer, for key: CacheKey, storedAs storageKey: CacheKey, _ forward: Exchange.Forward
  ) async {
    running.add(transfer, for: key)
    if storageKey != key { running.add(transfer, for: storageKey) }
    guard let ticket = forward.wipeTicket, wipes.isOvertaken(key, groups: [], since: ticket) else { return }
    await transfer.stopStoring()
    do throws(CacheError) { try await store.wipe(mode: key.mode, partition: key.partition) } catch {
      observe(.storeFailed(operation: "wipe", error))
    }
  }
}
