import HTTPCacheSemantics
import Synchronization

/// The keys of one part of a memory store, with their order of eviction, under one lock.
final class MemoryShard: Sendable {
  let state: Mutex<State>
  private let lowestPriorityBits = Atomic<UInt64>(Double.infinity.bitPattern)

  init() { state = Mutex(State()) }

  /// The priority of the entry to evict next, as of the last change of entries; infinity without one. A full store
  /// compares all shards for each response that it stores, so this takes no lock. A use since then may have raised the
  /// priority, which `State.evict` sees, or lowered it once the sketch has halved its counts: then another entry goes
  /// first, or a response is refused that is worth as little.
  var lowestPriority: Double { Double(bitPattern: lowestPriorityBits.load(ordering: .relaxed)) }

  /// Changes entries, and publishes the lowest priority afterwards.
  func changeEntries<Result>(_ change: (inout State) -> Result) -> Result {
    state.withLock { state in
      let result = change(&state)
      let lowest = state.lowestPriority(sparing: nil) ?? .infinity
      lowestPriorityBits.store(lowest.bitPattern, ordering: .relaxed)
      return result
    }
  }

  struct State: Sendable {
    private(set) var groups: [CacheKey: MemoryGroup] = [:]
    private(set) var keysByScope = KeysByScope()
    private var policy = EvictionPolicy(exponent: 1)
    private var order = EvictionOrder<CacheKey>()
    /// The keys whose groups have uses that the store below has not been told of.
    private var untoldKeys: [CacheKey] = []
    /// Such uses of groups that are gone.
    private var untoldUses: [KeyUses] = []

    /// Counts a look-up and returns the stored group.
    ///
    /// - Parameters:
    ///   - inflation: the inflation of all shards, so that their priorities can be compared.
    ///   - countsAbsence: whether a look-up that finds nothing counts.
    mutating func use(
      _ key: CacheKey, at now: Timestamp, inflation: Double, countsAbsence: Bool
    ) -> MemoryGroup? {
      guard let index = groups.index(forKey: key) else {
        if countsAbsence { policy.recordUse(hash: key.processHash) }
        return nil
      }
      return use(key, at: index, now: now, inflation: inflation)
    }

    private mutating func use(
      _ key: CacheKey, at index: Dictionary<CacheKey, MemoryGroup>.Index, now: Timestamp,
      inflation: Double
    ) -> MemoryGroup {
      policy.recordUse(hash: key.processHash)
      groups.values[index].noteUse(at: now)
      let group = groups.values[index]
      if let position = group.position {
        let bucket = bucket(of: key, size: group.size)
        policy.evicted(priority: inflation)
        order.move(
          position, size: group.size, bucket: bucket, priority: policy.priority(bucket: bucket))
      }
      return group
    }

    /// Counts a look-up, of which the store below has to be told, and returns the stored group, if it is complete and no
    /// change has made it out of date. Counts nothing if the group has to be compared with selections first.
    mutating func use(
      _ key: CacheKey, generation: Generation, at now: Timestamp, inflation: Double
    ) -> (group: MemoryGroup, isCompared: Bool)? {
      guard let index = groups.index(forKey: key),
        groups.values[index].generation?.changes == generation.changes
      else { return nil }
      guard groups.values[index].compared >= generation.selections else {
        return (groups.values[index], isCompared: false)
      }
      if groups.values[index].untoldUses == 0 { untoldKeys.append(key) }
      groups.values[index].untoldUses += 1
      return (use(key, at: index, now: now, inflation: inflation), isCompared: true)
    }

    /// Notes that no selection of the store below up to a number includes the copies of a key with this generation.
    mutating func didCompare(_ key: CacheKey, _ copies: Generation, upTo selections: UInt64) {
      groups[key]?.didCompare(copies, upTo: selections)
    }

    /// The number of keys with uses that the store below has not been told of.
    var untoldCount: Int { untoldKeys.count + untoldUses.count }

    /// Takes the uses that the store below has not been told of.
    mutating func takeUntoldUses() -> [KeyUses] {
      for key in untoldKeys {
        guard let index = groups.index(forKey: key) else { continue }
        keepUntoldUses(of: key, groups.values[index])
        groups.values[index].untoldUses = 0
      }
      defer { (untoldKeys, untoldUses) = ([], []) }
      return untoldUses
    }

    /// Keeps the uses of a group that is about to go.
    private mutating func keepUntoldUses(of key: CacheKey, _ group: MemoryGroup) {
      guard group.untoldUses > 0 else { return }
      untoldUses.append(KeyUses(of: key, count: group.untoldUses, last: group.lastUsed))
    }

    /// The bytes that a change would add, and the highest priority that it may displace.
    mutating func forecast(
      _ key: CacheKey, inflation: Double, change: (inout MemoryGroup) -> Void
    ) -> (growth: Int64, bound: Double) {
      var group = groups[key] ?? MemoryGroup(lastUsed: Timestamp(seconds: 0))
      let before = group.size
      change(&group)
      if group.isPinned { return (group.size - before, .infinity) }
      policy.evicted(priority: inflation)
      return (
        group.size - before, policy.admissionBound(candidateHash: key.processHash, size: group.size)
      )
    }

    /// The bytes of entries with a priority of at most `bound`, without those of `key`.
    func bytes(upTo bound: Double, need: Int64, sparing key: CacheKey?) -> Int64 {
      order.bytes(upTo: bound, need: need, sparing: key.flatMap { groups[$0]?.position })
    }

    /// The priority of the entry to evict next, but never `spared`.
    func lowestPriority(sparing spared: CacheKey?) -> Double? {
      order.next(upTo: .infinity, sparing: spared.flatMap { groups[$0]?.position })?.priority
    }

    /// The highest priority that a body of `size` bytes may displace while it is being written.
    mutating func admissionBound(of record: CacheRecord, size: Int64, inflation: Double) -> Double {
      if record.isPinned { return .infinity }
      policy.evicted(priority: inflation)
      return policy.admissionBound(candidateHash: record.key.processHash, size: size)
    }

    /// Changes the variants of a key and moves the key to the end of its bucket.
    ///
    /// - Returns: the increase in bytes and in variants.
    mutating func change(
      _ key: CacheKey, at now: Timestamp, inflation: Double, _ change: (inout MemoryGroup) -> Void
    ) -> (bytes: Int64, variants: Int) {
      var group = groups[key] ?? MemoryGroup(lastUsed: now)
      let before = group
      change(&group)
      keysByScope.update(key, from: before.isEmpty ? nil : before, to: group.isEmpty ? nil : group)
      let growth = (group.size - before.size, group.variants.count - before.variants.count)
      if group.isEmpty || group.isPinned {
        if let position = group.position { order.remove(position) }
        group.position = nil
        if group.isEmpty { keepUntoldUses(of: key, group) }
        groups[key] = group.isEmpty ? nil : group
        return growth
      }
      let bucket = bucket(of: key, size: group.size)
      policy.evicted(priority: inflation)
      let priority = policy.priority(bucket: bucket)
      if let position = group.position {
        order.move(position, size: group.size, bucket: bucket, priority: priority)
      } else {
        group.position = order.insert(key, size: group.size, bucket: bucket, priority: priority)
        policy.expect(entries: order.count)
      }
      groups[key] = group
      return growth
    }

    /// Evicts in order until `need` bytes are free or the next priority is above `bound`.
    ///
    /// - Parameter note: called with each key that was evicted.
    /// - Returns: the freed bytes and variants, and the highest evicted priority.
    mutating func evict(
      need: Int64, bound: Double, sparing spared: CacheKey?, note: (CacheKey) -> Void
    ) -> (bytes: Int64, variants: Int, priority: Double) {
      let sparedPosition = spared.flatMap { groups[$0]?.position }
      var gone: (bytes: Int64, variants: Int, priority: Double) = (0, 0, policy.inflation)
      while gone.bytes < need,
        let (position, key, priority) = order.next(upTo: bound, sparing: sparedPosition),
        let group = groups.removeValue(forKey: key)
      {
        order.remove(position)
        keysByScope.update(key, from: group, to: nil)
        keepUntoldUses(of: key, group)
        note(key)
        policy.evicted(priority: priority)
        gone.bytes += group.size
        gone.variants += group.variants.count
        gone.priority = max(gone.priority, priority)
      }
      return gone
    }

    /// Releases memory that tables no longer need.
    mutating func compact() {
      guard order.isSparse || groups.capacity > 64 && groups.capacity / 4 > groups.count else { return }
      var groups = [CacheKey: MemoryGroup](minimumCapacity: groups.count)
      for (key, group) in self.groups { groups[key] = group }
      order = order.compacted { key, position in groups[key]?.position = position }
      self.groups = groups
      keysByScope.compact()
    }

    /// The groups of the keys that a selection may include; nil if it does not select by what keys are found by.
    func candidates(for selection: CacheSelection) -> [(CacheKey, MemoryGroup)]? {
      keysByScope.candidates(for: selection)?.compactMap { key in groups[key].map { (key, $0) } }
    }

    private func bucket(of key: CacheKey, size: Int64) -> Int32 {
      policy.bucket(frequency: policy.frequency(of: key.processHash), size: size)
    }
  }
}
