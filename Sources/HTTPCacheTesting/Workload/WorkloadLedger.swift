import HTTPCacheSemantics
public import HTTPCacheStore

/// The states that a store may have after a workload, or a part of it: for each key, the possible versions,
/// and whether they must be invalidated.
public struct WorkloadLedger: Sendable {
  /// A possible state of a key.
  public enum State: Sendable, Hashable {
    /// No whole response.
    case absent
    /// A whole response.
    case whole(SampleVersion, isInvalidated: Bool)
  }

  private var states: [Int: Set<State>] = [:]
  // The states before the step that is running.
  private var before: [Int: Set<State>] = [:]

  /// Makes the ledger of an empty store.
  public init() {}

  /// The possible states of a key.
  public subscript(_ key: Int) -> Set<State> { states[key] ?? [.absent] }

  /// Notes a step. A step that has begun or failed may have taken effect or not.
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

  // The states that a step makes of the current ones.
  private func effect(of step: WorkloadStep) -> [Int: Set<State>] {
    switch step {
    case .store(let version, _): return [version.key: [.whole(version, isInvalidated: false)]]
    case .keep(let version, let count) where count == version.length && count > 0:
      // A store may treat a part with all bytes as whole.
      return [version.key: self[version.key].union([.whole(version, isInvalidated: false)])]
    case .extend(let version, let offset, let count) where offset + count == version.length:
      return [
        version.key: self[version.key].union(
          [.whole(version, isInvalidated: false), .whole(version, isInvalidated: true)])
      ]
    case .freshen(let key): return [key: invalidated(key, false)]
    case .invalidate(let key): return [key: invalidated(key, true)]
    case .invalidatePartition:
      let keys = states.keys.filter { SampleVersion.key($0).partition == "p" }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, invalidated($0, true)) })
    case .remove(let key): return [key: [.absent]]
    case .abandon, .keep, .extend, .read, .jump, .flush: return [:]
    }
  }

  private func invalidated(_ key: Int, _ isInvalidated: Bool) -> Set<State> {
    Set(
      self[key].map { state in
        guard case .whole(let version, _) = state else { return state }
        return .whole(version, isInvalidated: isInvalidated)
      })
  }
}

extension WorkloadLedger {
  /// The ledger of a store's current state.
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

  /// Whether a state is possible for a key. Any entry may also be invalidated: that only costs a request to
  /// the origin.
  public func allows(_ state: State, for key: Int) -> Bool {
    if self[key].contains(state) { return true }
    guard case .whole(let version, true) = state else { return false }
    return self[key].contains(.whole(version, isInvalidated: false))
  }
}
