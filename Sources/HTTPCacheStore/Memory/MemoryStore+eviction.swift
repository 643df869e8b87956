import HTTPCacheSemantics
import Synchronization

extension MemoryStore {
  /// What became of something that was to be stored.
  enum Placement: Sendable, Hashable {
    /// It is stored.
    case stored
    /// Everything that would have to go is worth more.
    case refused
    /// Everything that would have to go is pinned.
    case noRoom
  }

  /// Counts a look-up and tells what is there.
  func use(_ key: CacheKey) -> MemoryGroup? {
    let now = clock.now
    let inflation = inflation
    return shard(of: key).state.withLock { $0.use(key, at: now, inflation: inflation) }
  }

  /// Counts a look-up and tells what is there, if it is complete and of this generation.
  func use(_ key: CacheKey, generation: UInt64) -> MemoryGroup? {
    let now = clock.now
    let inflation = inflation
    return shard(of: key).state.withLock {
      $0.use(key, generation: generation, at: now, inflation: inflation)
    }
  }

  /// What is there, without counting a look-up.
  func group(_ key: CacheKey) -> MemoryGroup? {
    shard(of: key).state.withLock { $0.groups[key] }
  }

  /// Stores if the policy admits it, and evicts what has to go.
  ///
  /// - Parameters:
  ///   - reservation: of the body that is stored, released once its bytes count as stored.
  ///   - change: puts something into the variants of the key; may be called twice.
  ///   - otherwise: what happens to them if it is not stored.
  func place(
    _ key: CacheKey, from reservation: MemoryReservation? = nil,
    change: (inout MemoryGroup) -> Void, otherwise: (inout MemoryGroup) -> Void
  ) -> Placement {
    let (growth, bound) = forecast(key, change: change)
    guard bound == .infinity else {
      return place(
        key, from: reservation, growth: growth, bound: bound, change: change, otherwise: otherwise)
    }
    // What is pinned stays, so that nobody else may take the same room before it counts.
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

  /// Changes the variants of a key, whatever room there is.
  ///
  /// - Returns: by how much they became more.
  @discardableResult
  func change(_ key: CacheKey, _ change: (inout MemoryGroup) -> Void) -> Int {
    let now = clock.now
    let inflation = inflation
    let growth = shard(of: key).state.withLock {
      $0.change(key, at: now, inflation: inflation, change)
    }
    account(bytes: growth.bytes, variants: growth.variants)
    return growth.variants
  }

  /// Evicts what has the lowest priority in all shards until no more than `limit` bytes are stored.
  func evictExcess(over limit: Int64, sparing key: CacheKey?) {
    guard excess(over: limit) > 0 else { return }
    let home = key.map { shard(of: $0) }
    var heads = shards.map { shard in
      shard.state.withLock { $0.lowestPriority(sparing: shard === home ? key : nil) } ?? .infinity
    }
    while excess(over: limit) > 0 {
      guard let index = heads.indices.min(by: { heads[$0] < heads[$1] }), heads[index] < .infinity
      else { return }
      let next = heads.indices.lazy.filter { $0 != index }.map { heads[$0] }.min() ?? .infinity
      let need = excess(over: limit)
      let gone = shards[index].state.withLock { state in
        let gone = state.evict(need: need, bound: next, sparing: key)
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

  /// Gives back memory that was needed for more than there is now.
  func compact() { for shard in shards { shard.state.withLock { $0.compact() } } }

  // Whether that many bytes are in entries that something with this bound may displace.
  func isFree(_ need: Int64, bound: Double, sparing key: CacheKey?) -> Bool {
    guard need > 0 else { return true }
    var found: Int64 = 0
    for shard in shards {
      let rest = need - found
      found += shard.state.withLock { $0.bytes(upTo: bound, need: rest, sparing: key) }
      if found >= need { return true }
    }
    return false
  }
}
