import HTTPCacheSemantics
import Synchronization

/// The partitions that were wiped, in the order of their wipes. Exact up to a number of partitions, because a request of
/// another partition must not wipe its own one.
final class WipedPartitions: Sendable {
  private struct Partition: Hashable {
    let mode: CacheMode
    let name: String
  }

  private struct State {
    /// The number of the last wipe of any partition.
    var last: UInt64 = 0
    var numbers: [Partition: UInt64] = [:]
    /// The number of the last wipe that was forgotten.
    var forgotten: UInt64 = 0
  }

  /// Maximum number of partitions that are remembered. Beyond it all are forgotten, and a request that was sent before
  /// then counts as one of a wiped partition.
  static let limit = 1_024

  private let state = Mutex(State())

  /// The ticket of a request that is about to be sent.
  var ticket: UInt64 { state.withLock { $0.last } }

  /// Notes a wipe.
  func note(mode: CacheMode, partition: String) {
    state.withLock { state in
      state.last += 1
      if state.numbers.count >= Self.limit { (state.numbers, state.forgotten) = ([:], state.last) }
      state.numbers[Partition(mode: mode, name: partition)] = state.last
    }
  }

  /// Whether a partition was wiped after a ticket was taken, or may have been.
  func isWiped(mode: CacheMode, partition: String, since ticket: UInt64) -> Bool {
    state.withLock { state in
      max(state.numbers[Partition(mode: mode, name: partition)] ?? 0, state.forgotten) > ticket
    }
  }
}
