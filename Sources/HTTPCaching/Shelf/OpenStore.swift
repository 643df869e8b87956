import HTTPCacheSemantics
import HTTPCacheStore
import Synchronization

/// The store of a cache, until it is closed.
final class OpenStore: Sendable {
  private let whileOpen: any CacheStore
  private let localWhileOpen: any CacheStore
  private let localMemory: (any GenerationSource & UseCounter)?
  private let isClosed = Atomic<Bool>(false)

  /// - Parameters:
  ///   - store: the store for requests and for changes of this node.
  ///   - local: the store for changes of other nodes; nil without a fleet.
  init(_ store: any CacheStore, local: (any CacheStore)? = nil) {
    whileOpen = store
    localWhileOpen = local ?? store
    let memory = localWhileOpen as? any GenerationSource & UseCounter
    localMemory = memory?.tellsOfChanges == true ? memory : nil
  }

  var store: any CacheStore { isClosed.load(ordering: .relaxed) ? ClosedStore.shared : whileOpen }

  /// The store whose changes reach no other node.
  var local: any CacheStore { isClosed.load(ordering: .relaxed) ? ClosedStore.shared : localWhileOpen }

  /// The local store, if it tells of changes and is told of uses; nil if not, or once it is closed.
  var memory: (any GenerationSource & UseCounter)? { isClosed.load(ordering: .relaxed) ? nil : localMemory }

  /// - Parameter beforehand: called first, unless the store is closed already.
  func close(_ beforehand: () -> Void) async {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    beforehand()
    await whileOpen.close()
  }
}

/// Takes the place of a closed store: finds nothing, stores nothing, and each call throws `CacheError.closed`.
private final class ClosedStore: CacheStore {
  static let shared = ClosedStore()

  private let changes = ChangeCounters()

  private static var error: CacheError { CacheError(.closed, "the cache was closed") }

  func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] { throw Self.error }

  func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter { throw Self.error }

  func update(_ record: CacheRecord) async throws(CacheError) -> Bool { throw Self.error }

  func remove(_ selection: CacheSelection) async throws(CacheError) -> Int { throw Self.error }

  func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? { throw Self.error }

  func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage { throw Self.error }

  func ticket() -> InvalidationTicket { changes.ticket() }

  func isOvertaken(_ key: CacheKey, groups: [String]?, since ticket: InvalidationTicket) -> Bool { true }

  func isWiped(_ key: CacheKey, since ticket: InvalidationTicket) -> Bool { true }

  func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int { throw Self.error }

  func refusals(of key: CacheKey) throws(CacheError) -> [RefusalNote] { throw Self.error }

  func counts() async throws(CacheError) -> CacheCounts { throw Self.error }

  func setCapacity(memory: Int64?, disk: Int64?) async throws(CacheError) { throw Self.error }

  var usage: StoreUsage { StoreUsage() }

  var secret: [UInt8] { [] }
}
