import HTTPCacheTesting

extension FaultSweep {
  /// Cuts the power at random moments of the workload, and opens a directory as it may be found afterwards.
  ///
  /// - Parameters:
  ///   - runs: the number of directories to check.
  ///   - seed: chooses the moments, and which changes survive that were not synced.
  ///   - isDurable: whether steps that the store reported as done must be there, because it syncs.
  /// - Throws: `FaultError`; what the store throws without faults.
  public func powerLoss(runs: Int, seed: UInt64 = 1, isDurable: Bool) async throws -> SweepReport {
    var report = SweepReport()
    let place = folder + "/recorded"
    try FileTree.make(place)
    defer { FileTree.remove(place) }
    let faults = try SystemFaults(below: place, recordsChanges: true)
    let clock = ManualClock(now: StoreSample.start)
    var events: [(change: Int, step: Int, outcome: WorkloadOutcome)] = []
    do {
      let store = try await openStore(faults.folder + "/cache", clock)
      try await workload.run(on: store, clock: clock) {
        events.append((faults.changeCount, $0, $1))
      }
    }
    let changes = faults.changes
    let power = PowerLoss(changes: changes)
    var generator = SplitMix(seed: seed)
    for run in 0..<runs {
      let moment = generator.between(0, changes.count)
      var ledger = WorkloadLedger()
      for event in events where event.change <= moment {
        ledger.note(workload.steps[event.step], event.outcome)
      }
      let found = folder + "/found-\(run)"
      defer { FileTree.remove(found) }
      try power.makeFolder(found, after: moment, seed: seed &+ UInt64(run))
      report.runs += 1
      do {
        try await audit(found + "/cache", isDurable ? ledger : nil, isComplete: isDurable, &report)
      } catch let violation as StoreViolation {
        report.violations.append(
          "power lost after \(moment) of \(changes.count) changes, seed \(seed &+ UInt64(run)): \(violation)")
      }
    }
    return report
  }
}
