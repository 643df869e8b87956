import Synchronization

/// Generations within one process: a counter for each class of hashes, and one for all.
package final class GenerationCounters: Sendable {
  private final class Counter: Sendable {
    let value = Atomic<UInt64>(0)
  }

  private let counters: [Counter]
  private let all = Counter()

  package init() { counters = (0..<1_024).map { _ in Counter() } }

  /// A number that rises when the generation of a hash, or of all hashes, is raised.
  package func generation(of hash: UInt64) -> UInt64 {
    // Neither counter falls, so the sum changes whenever one of them does.
    counter(of: hash).value.load(ordering: .acquiring) &+ all.value.load(ordering: .acquiring)
  }

  /// Raises the generation of a hash.
  package func raise(for hash: UInt64) { counter(of: hash).value.add(1, ordering: .acquiringAndReleasing) }

  /// Raises the generation of all hashes.
  package func raiseAll() { all.value.add(1, ordering: .acquiringAndReleasing) }

  private func counter(of hash: UInt64) -> Counter { counters[Int(hash & 1_023)] }
}
