import HTTPCacheSemantics
import Synchronization

extension MemoryStore {
  /// Bytes of bodies being written that evict nothing: what one transfer holds anyway for its readers.
  static let freeInFlight: Int64 = 1 << 20

  /// Counts bytes of a body that is being written. If there is no room, entries go that the response may
  /// displace.
  ///
  /// - Parameters:
  ///   - bodySize: bytes of the body as far as they are known: announced, or appended with `bytes`.
  ///   - keepsStored: whether what is stored for the key must stay.
  /// - Returns: false if there is no room; then nothing is counted.
  func collect(
    _ bytes: Int64, of record: CacheRecord, bodySize: Int64, keepsStored: Bool
  ) -> Bool {
    // Count first: two writers that ask at the same time see each other, so that the limit holds.
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
    // The response replaces what is stored for its key, so that may go before it is replaced.
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
