public import HTTPCacheSemantics
public import HTTPCacheStore
import Synchronization

/// A store that forwards to the store below it, except for the calls that should fail.
///
///     let store = FaultyStore(MemoryStore(capacity: 1 << 20))
///     store.fail(.append, at: 2, with: CacheError(.noSpace, "full"))
public final class FaultyStore: StoreLayer, GenerationSource {
  private struct Fault {
    let calls: ClosedRange<Int>
    let error: CacheError
  }

  private struct State {
    var calls: [StoreOperation: Int] = [:]
    var faults: [StoreOperation: [Fault]] = [:]
  }

  /// The store below.
  public let base: any CacheStore
  private let state = Mutex(State())

  /// Makes a store over `base` in which nothing fails yet.
  public init(_ base: any CacheStore) { self.base = base }

  /// Makes calls fail.
  ///
  /// - Parameters:
  ///   - operation: the operation.
  ///   - number: the first call that fails, counted from now; 1 is the next one.
  ///   - times: the number of calls that fail from then on.
  ///   - error: the error that they throw.
  public func fail(
    _ operation: StoreOperation, at number: Int = 1, times: Int = 1,
    with error: CacheError = CacheError(.io, "made to fail")
  ) {
    state.withLock { state in
      let first = state.calls[operation, default: 0] + max(1, number)
      let (last, isEndless) = first.addingReportingOverflow(max(1, times) - 1)
      let fault = Fault(calls: first...(isEndless ? .max : last), error: error)
      state.faults[operation, default: []].append(fault)
    }
  }

  /// Lets all calls succeed again.
  public func heal() { state.withLock { $0.faults = [:] } }

  /// The number of calls of an operation.
  public func calls(_ operation: StoreOperation) -> Int {
    state.withLock { $0.calls[operation, default: 0] }
  }

  /// Counts a call, and throws if it should fail.
  func check(_ operation: StoreOperation) throws(CacheError) {
    let error = state.withLock { state in
      let call = state.calls[operation, default: 0] + 1
      state.calls[operation] = call
      return state.faults[operation]?.first { $0.calls.contains(call) }?.error
    }
    if let error { throw error }
  }

  /// The result of the store below, with bodies that can fail.
  public func peek(_ key: CacheKey) -> [StoredVariant]? { base.peek(key)?.map(wrap) }

  /// The variants of the store below, with bodies that can fail.
  ///
  /// - Throws: the error it was told to throw; what the store below throws.
  public func read(_ key: CacheKey) throws(CacheError) -> [StoredVariant] {
    try check(.read)
    return try base.read(key).map(wrap)
  }

  /// Removes everything of a partition from the store below.
  ///
  /// - Throws: the error it was told to throw; what the store below throws.
  @discardableResult
  public func wipe(mode: CacheMode, partition: String) async throws(CacheError) -> Int {
    try check(.remove)
    return try await base.wipe(mode: mode, partition: partition)
  }

  /// Begins to write to the store below.
  ///
  /// - Throws: the error it was told to throw; what the store below throws.
  public func write(
    _ record: CacheRecord, variantLimit: Int
  ) async throws(CacheError) -> any BodyWriter {
    try check(.write)
    return FaultyWriter(
      try await base.write(record, variantLimit: variantLimit), store: self)
  }

  /// Begins to add to a part in the store below.
  ///
  /// - Throws: the error it was told to throw; what the store below throws.
  public func extend(
    _ record: CacheRecord, at offset: Int64
  ) async throws(CacheError) -> any BodyWriter {
    try check(.extend)
    return FaultyWriter(try await base.extend(record, at: offset), store: self)
  }

  /// Updates the store below.
  ///
  /// - Throws: the error it was told to throw; what the store below throws.
  public func update(_ record: CacheRecord) async throws(CacheError) -> Bool {
    try check(.update)
    return try await base.update(record)
  }

  /// Removes from the store below.
  ///
  /// - Throws: the error it was told to throw; what the store below throws.
  public func remove(_ selection: CacheSelection) async throws(CacheError) -> Int {
    try check(.remove)
    return try await base.remove(selection)
  }

  /// Marks in the store below.
  ///
  /// - Throws: the error it was told to throw; what the store below throws.
  public func mark(
    _ selection: CacheSelection, as mark: StoredResponse.Mark
  ) async throws(CacheError) -> Int? {
    try check(.invalidate)
    return try await base.mark(selection, as: mark)
  }

  /// Lists the store below.
  ///
  /// - Throws: the error it was told to throw; what the store below throws.
  public func entries(
    _ selection: CacheSelection, after cursor: EntryCursor?, limit: Int
  ) async throws(CacheError) -> EntryPage {
    try check(.entries)
    return try await base.entries(selection, after: cursor, limit: limit)
  }

  private var generations: (any GenerationSource)? { base as? any GenerationSource }

  /// The generation of the store below; 0 if it has none.
  package func generation(of key: CacheKey) -> Generation {
    generations?.generation(of: key) ?? Generation(changes: 0)
  }

  package func hasSelected(_ key: CacheKey, groups: [String], since selections: UInt64) -> Bool {
    generations?.hasSelected(key, groups: groups, since: selections) ?? false
  }

  package var tellsOfChanges: Bool { generations?.tellsOfChanges == true }

  /// Whether the store below is known to have nothing for the key. It is not while reads fail.
  package func isKnownAbsent(_ key: CacheKey) -> Bool { false }

  private func wrap(_ variant: StoredVariant) -> StoredVariant {
    StoredVariant(record: variant.record, body: FaultyBody(variant.body, store: self))
  }
}
