import HTTPCacheSemantics
import Synchronization

extension MemoryStore {
  /// The result of an attempt to store.
  enum Placement: Sendable, Hashable {
    /// It is stored.
    case stored
    /// All entries that would have to be evicted are worth more.
    case refused
    /// All entries that would have to be evicted are pinned.
    case noRoom
  }

  /// Counts a look-up and returns the stored group.
  func use(_ key: CacheKey) -> MemoryGroup? { use(key, at: clock.now) }

  /// Counts a look-up at this time and returns the stored group.
  ///
  /// - Parameter countsAbsence: whether a look-up that finds nothing counts.
  func use(_ key: CacheKey, at time: Timestamp, countsAbsence: Bool = true) -> MemoryGroup? {
    let inflation = inflation
    return shard(of: key).state.withLock {
      $0.use(key, at: time, inflation: inflation, countsAbsence: countsAbsence)
    }
  }

  /// Counts a look-up and returns the stored group, if it is complete and no change has made it out of date. Counts
  /// nothing if the group has to be compared with selections first (`didCompare`).
  ///
  /// - Returns: the group, and uses that the store below must be told of, once there are many.
  func use(
    _ key: CacheKey, generation: Generation, at time: Timestamp
  ) -> (group: MemoryGroup, isCompared: Bool, uses: [KeyUses])? {
    let inflation = inflation
    return shard(of: key).state.withLock { shard in
      guard let found = shard.use(key, generation: generation, at: time, inflation: inflation) else {
        return nil
      }
      let uses = shard.untoldCount >= Self.mostUntoldKeys ? shard.takeUntoldUses() : []
      return (found.group, found.isCompared, uses)
    }
  }

  /// Notes that no selection of the store below up to a number includes the copies of a key with this generation.
  func didCompare(_ key: CacheKey, _ copies: Generation, upTo selections: UInt64) {
    shard(of: key).state.withLock { $0.didCompare(key, copies, upTo: selections) }
  }

  /// The number of keys of a shard whose uses are collected for the store below.
  private static let mostUntoldKeys = 64

  /// All uses that the store below has not been told of.
  func takeUntoldUses() -> [KeyUses] {
    shards.flatMap { $0.state.withLock { $0.takeUntoldUses() } }
  }

  /// The stored group, without counting a look-up.
  func group(_ key: CacheKey) -> MemoryGroup? {
    shard(of: key).state.withLock { $0.groups[key] }
  }

  /// Stores if the policy admits it, and evicts entries as needed.
  ///
  /// - Parameters:
  ///   - reservation: the reservation of the body, released once its bytes count as stored.
  ///   - change: changes the variants of the key; may be called twice.
  ///   - otherwise: changes them if storing is refused.
  func place(
    _ key: CacheKey, from reservation: MemoryReservation? = nil,
    change: (inout MemoryGroup) -> Void, otherwise: (inout MemoryGroup) -> Void
  ) -> Placement {
    let (growth, bound) = forecast(key, change: change)
    guard bound == .infinity else {
      return place(
        key, from: reservation, growth: growth, bound: bound, change: change, otherwise: otherwise)
    }
    // A pinned entry cannot be evicted later, so no other pinned entry may take these bytes before they count.
    return pinning.withLock { _ in
      let (growth, bound) = forecast(key, change: change)
      return place(
        key, from: reservation, growth: growth, bound: bound, change: change, otherwise: otherwise)
    }
  }

  private func forecast(
    _ key: CacheKey, change: (inout MemoryGroup) -> Void
  ) -> (growth: Int64, bound: Double) {
    let inflation = inflation
    return shard(of: key).state.withLock { $0.forecast(key, inflation: inflation, change: change) }
  }

  private func place(
    _ key: CacheKey, from reservation: MemoryReservation?, growth: Int64, bound: Double,
    change: (inout MemoryGroup) -> Void, otherwise: (inout MemoryGroup) -> Void
  ) -> Placement {
    let need = excess(over: capacityNow, without: reservation?.written ?? 0) + growth
    guard isFree(need, bound: bound, sparing: key) else {
      self.change(key, otherwise)
      reservation?.release()
      if bound == .infinity { return .noRoom }
      raiseInflation(to: bound)
      return .refused
    }
    self.change(key, change)
    reservation?.release()
    evictExcess(over: capacityNow, sparing: key)
    return .stored
  }

  /// Changes the variants of a key without an admission test.
  ///
  /// - Returns: the increase in bytes and in variants.
  @discardableResult
  func change(_ key: CacheKey, _ change: (inout MemoryGroup) -> Void) -> Int {
    let now = clock.now
    let inflation = inflation
    let growth = shard(of: key).changeEntries {
      $0.change(key, at: now, inflation: inflation, change)
    }
    changes.raise(key.processHash)
    account(bytes: growth.bytes, variants: growth.variants)
    return growth.variants
  }

  /// Evicts the entries of lowest priority of all shards until at most `limit` bytes are stored.
  func evictExcess(over limit: Int64, sparing key: CacheKey?) {
    guard excess(over: limit) > 0 else { return }
    var heads = shards.map(\.lowestPriority)
    while excess(over: limit) > 0 {
      guard let index = heads.indices.min(by: { heads[$0] < heads[$1] }), heads[index] < .infinity
      else { return }
      let next = heads.indices.lazy.filter { $0 != index }.map { heads[$0] }.min() ?? .infinity
      let need = excess(over: limit)
      let gone = shards[index].changeEntries { state in
        let gone = state.evict(need: need, bound: next, sparing: key) { changes.raise($0.processHash) }
        heads[index] = state.lowestPriority(sparing: key) ?? .infinity
        return gone
      }
      account(bytes: -gone.bytes, variants: -gone.variants)
      if gone.variants > 0 {
        raiseInflation(to: gone.priority)
        count(CacheCounts(evictions: Int64(gone.variants)))
      }
    }
  }

  /// Releases memory that tables no longer need.
  func compact() { for shard in shards { shard.state.withLock { $0.compact() } } }

  // Whether entries that `bound` allows to displace have this number of bytes.
  func isFree(_ need: Int64, bound: Double, sparing key: CacheKey?) -> Bool {
    guard need > 0 else { return true }
    var found: Int64 = 0
    // Begins with the shard of the key, which no other response is likely to be stored in at the same time.
    let first = key.map { Self.shardIndex(of: $0) } ?? 0
    for index in shards.indices {
      let shard = shards[(first + index) % shards.count]
      guard shard.lowestPriority <= bound else { continue }
      let rest = need - found
      found += shard.state.withLock { $0.bytes(upTo: bound, need: rest, sparing: key) }
      if found >= need { return true }
    }
    return false
  }
}
