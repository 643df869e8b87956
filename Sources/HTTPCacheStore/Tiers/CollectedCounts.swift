import HTTPCacheLibC
import Synchronization

/// Adds up counts until there are many. Each thread has its own sum, so that hits on several threads do not wait for
/// one lock.
final class CollectedCounts: Sendable {
  private struct Sum: Sendable {
    var counts = CacheCounts()
    var additions = 0
  }

  /// One of the sums. A class, so that two sums do not share a line of the processor's cache.
  private final class Slot: Sendable {
    let sum = Mutex(Sum())
  }

  private static let mostAdditions = 256

  private let slots = (0..<16).map { _ in Slot() }

  /// Adds counts.
  ///
  /// - Returns: the sum of the current thread, once it has many; it begins anew then.
  func add(_ counts: CacheCounts) -> CacheCounts? {
    current.sum.withLock { sum in
      sum.counts += counts
      sum.additions += 1
      guard sum.additions >= Self.mostAdditions else { return nil }
      defer { sum = Sum() }
      return sum.counts
    }
  }

  /// Takes all sums.
  func take() -> CacheCounts {
    var all = CacheCounts()
    for slot in slots {
      all += slot.sum.withLock { sum in
        defer { sum = Sum() }
        return sum.counts
      }
    }
    return all
  }

  private var current: Slot {
    #if canImport(Darwin)
      let thread = UInt(bitPattern: pthread_self())
    #else
      let thread = UInt(pthread_self())
    #endif
    // Threads have stacks at multiples of large powers of two.
    return slots[Int((UInt64(thread) &* 0x9E37_79B9_7F4A_7C15) >> 60)]
  }
}
