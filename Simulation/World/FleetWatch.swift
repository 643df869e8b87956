import HTTPCaching

/// Tells the oracle which changes of other processes a process has applied.
struct FleetWatch: CacheObserver {
  let process: Int
  let oracle: Oracle

  func observe(_ event: CacheEvent) {
    guard case .fleet(.applied(let change)) = event else { return }
    oracle.didApply(change.uid, process: process)
  }
}
