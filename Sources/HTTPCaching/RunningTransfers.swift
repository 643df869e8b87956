import Synchronization

/// The transfers that run, by target URI, so that an invalidation finds what is not stored yet.
final class RunningTransfers: Sendable {
  private let transfers = Mutex<[String: [ObjectIdentifier: Transfer]]>([:])

  func add(_ transfer: Transfer, for target: String) {
    transfers.withLock { $0[target, default: [:]][ObjectIdentifier(transfer)] = transfer }
  }

  func remove(_ transfer: Transfer, for target: String) {
    transfers.withLock { transfers in
      transfers[target]?[ObjectIdentifier(transfer)] = nil
      if transfers[target]?.isEmpty == true { transfers[target] = nil }
    }
  }

  /// Whether anything is on its way for a target.
  func contains(_ target: String) -> Bool { transfers.withLock { $0[target] != nil } }

  /// What is on its way was sent before the change: it must not be reused without asking.
  func invalidate(_ target: String) {
    let found = transfers.withLock { $0[target].map { Array($0.values) } ?? [] }
    for transfer in found { transfer.invalidate() }
  }

  /// The same for all of an origin, where it is not known which of them have changed.
  func invalidate(origin: String) {
    let found = transfers.withLock { transfers in
      transfers.filter { $0.key.hasPrefix(origin + "/") }.flatMap { Array($0.value.values) }
    }
    for transfer in found { transfer.invalidate() }
  }

  /// The same for all targets that begin with a prefix.
  func invalidate(prefix: String) {
    let found = transfers.withLock { transfers in
      transfers.filter { $0.key.utf8.starts(with: prefix.utf8) }.flatMap(\.value.values)
    }
    for transfer in found { transfer.invalidate() }
  }
}
