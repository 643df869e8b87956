import HTTPCacheSemantics
import HTTPCacheStore

extension HTTPCache {
  /// Decides for a request that needs the origin: lead, wait for the leader, or share its answer.
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
  ///   - key: the key under which the response is stored.
  ///   - requestKey: the key of the request; a change of its target affects the response, too.
  func ticket(for key: CacheKey, _ requestKey: CacheKey) -> InvalidationTicket? {
    guard key != requestKey, var ticket else { return ticket }
    ticket.requestTarget = requestKey.target
    return ticket
  }
}

extension HTTPCache {
  /// Registers a transfer before it starts. If the partition was wiped after the request was sent, neither the
  /// response nor the names written for it are stored.
  ///
  /// - Parameters:
  ///   - key: the key of the request.
  ///   - storageKey: the key under which the response is stored.
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
