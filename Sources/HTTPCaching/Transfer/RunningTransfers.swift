import HTTPCacheSemantics
import Synchronization

/// The running transfers by target URI, so that a wipe finds responses that are not stored yet. A request also waits
/// for the part that a transfer without readers will keep, and a pointer stays while its item arrives.
final class RunningTransfers: Sendable {
  private struct Running {
    let transfer: Transfer
    let mode: CacheMode
    let partition: String
  }

  private let transfers = Mutex<[String: [ObjectIdentifier: Running]]>([:])

  func add(_ transfer: Transfer, for key: CacheKey) {
    let running = Running(transfer: transfer, mode: key.mode, partition: key.partition)
    transfers.withLock { $0[key.target, default: [:]][ObjectIdentifier(transfer)] = running }
  }

  func remove(_ transfer: Transfer, for target: String) {
    transfers.withLock { transfers in
      transfers[target]?[ObjectIdentifier(transfer)] = nil
      if transfers[target]?.isEmpty == true { transfers[target] = nil }
    }
  }

  /// The number of transfers, counted once for each of their targets.
  var count: Int { transfers.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  /// Whether a transfer is running for a target.
  func contains(_ target: String) -> Bool { transfers.withLock { $0[target] != nil } }

  /// A transfer for a target that its readers have left and that has not stored yet what it will keep.
  func abandoned(_ target: String) -> Transfer? {
    let found = transfers.withLock { $0[target].map { Array($0.values) } } ?? []
    return found.first { $0.transfer.isBeingAbandoned }?.transfer
  }

  /// Stops storing for all running transfers of a partition. A transfer that is committing has ended when this returns.
  ///
  /// - Returns: whether there were any.
  func stopStoring(mode: CacheMode, partition: String) async -> Bool {
    let found = transfers.withLock { transfers in
      transfers.values.flatMap(\.values).filter { $0.mode == mode && $0.partition == partition }
    }
    for running in found { await running.transfer.stopStoring() }
    return !found.isEmpty
  }
}
