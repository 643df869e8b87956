import HTTPCacheStore
import Synchronization

/// The eviction policy of one store on disk, under a lock. The order of eviction itself is in the index.
final class DiskEvictionPolicy: Sendable {
  /// How strongly the size of an entry lowers its priority (`EvictionPolicy.exponent`).
  private static let exponent = 0.5

  private let policy: Mutex<EvictionPolicy>

  /// - Parameter inflation: the lowest priority in the index, where an earlier process stopped.
  init(inflation: Double) {
    policy = Mutex(EvictionPolicy(exponent: Self.exponent, inflation: inflation))
  }

  /// Counts look-ups of keys, by the hashes of the keys.
  func recordUses(_ uses: some Sequence<(hash: UInt64, count: Int)>) {
    policy.withLock { policy in
      for use in uses {
        for _ in 0..<min(use.count, FrequencySketch.ceiling) { policy.recordUse(hash: use.hash) }
      }
    }
  }

  /// The priority of an entry of a key that was used now. A new entry displaces no entry of a higher priority.
  func priority(ofHash hash: UInt64, size: Int64) -> Double {
    policy.withLock { $0.admissionBound(candidateHash: hash, size: size) }
  }

  /// Makes room to count the look-ups of a store with this number of entries.
  func expect(entries: Int) { policy.withLock { $0.expect(entries: entries) } }

  /// Notes that entries of these priorities were evicted, or refused.
  func evicted(priorities: [Double]) {
    policy.withLock { policy in
      for priority in priorities { policy.evicted(priority: priority) }
    }
  }

  /// Forgets how often keys were looked up.
  func forgetUses() {
    policy.withLock { $0 = EvictionPolicy(exponent: Self.exponent, inflation: $0.inflation) }
  }
}
