import HTTPCacheSemantics
public import HTTPCacheStore

/// What may be found in a store after a workload, or a part of one: for each key, which versions, and
/// whether they have to be invalidated.
public struct WorkloadLedger: Sendable {
  /// What may be found for a key.
  public enum State: Sendable, Hashable {
    /// No whole response.
    case absent
    /// A whole response.
    case whole(SampleVersion, isInvalidated: Bool)
  }

  private var states: [Int: Set<State>] = [:]
  // What was before the step that is under way.
  private var before: [Int: Set<State>] = [:]

  /// Makes the ledger of an empty store.
  public init() {}

  /// What may be found for a key.
  public subscript(_ key: Int) -> Set<State> { states[key] ?? [.absent] }

  /// The keys that may have something.
  public var keys: [Int] { states.keys.sorted() }

  /// Takes note of a step. What has begun or failed may have happened or not.
  public mutating func note(_ step: WorkloadStep, _ outcome: WorkloadOutcome) {
    switch outcome {
    case .begun:
      before = states
      for (key, after) in effect(of: step) { states[key] = self[key].union(after) }
    case .done:
      states = before
      for (key, after) in effect(of: step) { states[key] = after }
      before = [:]
    case .failed:
      before = [:]
    }
  }

  // What a step makes of the states there are now.
  private func effect(of step: WorkloadStep) -> [Int: Set<State>] {
    switch step {
    case .store(let version, _): return [version.key: [.whole(version, isInvalidated: false)]]
    case .keep(let version, let count) where count == version.length && count > 0:
      // A store may take what is all there for whole.
      return [version.key: self[version.key].union([.whole(version, isInvalidated: false)])]
    case .extend(let version, let offset, let count) where offset + count == version.length:
      return [
        version.key: self[version.key].union(
          [.whole(version, isInvalidated: false), .whole(version, isInvalidated: true)])
      ]
    case .freshen(let key): return [key: marked(key, false)]
    case .invalidate(let key): return [key: marked(key, true)]
    case .invalidatePartition:
      let keys = states.keys.filter { SampleVersion.key($0).partition == "p" }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, marked($0, true)) })
    case .remove(let key): return [key: [.absent]]
    case .abandon, .keep, .extend, .read, .jump, .flush: return [:]
    }
  }

  private func marked(_ key: Int, _ isInvalidated: Bool) -> Set<State> {
    Set(
      self[key].map { state in
        guard case .whole(let version, _) = state else { return state }
        return .whole(version, isInvalidated: isInvalidated)
      })
  }
}

extension WorkloadLedger {
  /// The ledger of what a store has now.
  ///
  /// - Throws: `CacheError`.
  public init(of store: any CacheStore, keys: Range<Int>) throws(CacheError) {
    for key in keys {
      for variant in try store.read(SampleVersion.key(key)) where variant.record.isComplete {
        guard let version = SampleVersion(variant.record) else { continue }
        states[key] = [.whole(version, isInvalidated: variant.record.response.isInvalidated)]
      }
    }
  }

  /// Whether something may be found for a key. What may be there may always be invalidated as well:
  /// that costs no more than a question to the origin.
  public func allows(_ state: State, for key: Int) -> Bool {
    if self[key].contains(state) { return true }
    guard case .whole(let version, true) = state else { return false }
    return self[key].contains(.whole(version, isInvalidated: false))
  }
}
