import HTTPCacheSemantics
import Synchronization

extension MemoryStore {
  /// Bytes of bodies being written that evict no entry: as much as one transfer keeps for its readers.
  static let freeInFlight: Int64 = 1 << 20

  /// Counts bytes of a body that is being written. Evicts entries that the response may displace if needed.
  ///
  /// - Parameters:
  ///   - bodySize: the known bytes of the body: the announced length, or the appended bytes including `bytes`.
  ///   - keepsStored: whether the responses stored for the key must stay.
  /// - Returns: false if too few bytes can be freed; then none are counted.
  func collect(
    _ bytes: Int64, of record: CacheRecord, bodySize: Int64, keepsStored: Bool
  ) -> Bool {
    // Count first: two writers at the same time then see each other's bytes, and the limit holds.
    addInFlight(bytes)
    let need = excess(over: capacityNow)
    if need <= 0 { return true }
    let key = record.key
    let inflation = inflation
    let bound = shard(of: key).state.withLock {
      $0.admissionBound(of: record, size: bodySize, inflation: inflation)
    }
    if isFree(need, bound: bound, sparing: key) {
      evictExcess(over: capacityNow, sparing: key)
      return true
    }
    // The response replaces the one stored for its key, so that one may be evicted before.
    if !keepsStored, isFree(need, bound: bound, sparing: nil) {
      evictExcess(over: capacityNow, sparing: nil)
      return true
    }
    addInFlight(-bytes)
    // As in `place`: a refusal counts like an eviction, or entries that were popular once would stay for ever.
    if bound < .infinity { raiseInflation(to: bound) }
    return false
  }
}
