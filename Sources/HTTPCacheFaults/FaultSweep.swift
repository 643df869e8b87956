public import HTTPCacheStore
public import HTTPCacheTesting

/// Runs a workload on a store repeatedly, each time with another fault, and checks that the store opens
/// afterwards, and has no wrong body, no half body that passes for a whole one, and nothing that it must not
/// have.
///
///     let sweep = FaultSweep(folder: folder, workload: StoreWorkload(seed: 1, count: 20)) { directory, clock
///     in
///       try MyStore(directory: directory, clock: clock)
///     }
///     let report = try await sweep.failing(.write, with: .noSpace)
///     #expect(report.violations.isEmpty)
public struct FaultSweep: Sendable {
  /// Opens the store of a directory, which may not exist yet.
  public typealias OpenStore =
    @Sendable (
      _ directory: String, _ clock: ManualClock
    ) async throws -> any CacheStore

  let folder: String
  let workload: StoreWorkload
  let openStore: OpenStore

  /// Makes a sweep.
  ///
  /// - Parameters:
  ///   - folder: an empty folder to work in.
  ///   - workload: the steps of each run. The store must have room for all its bodies together.
  ///   - openStore: opens the store; each run has a new directory.
  public init(folder: String, workload: StoreWorkload, openStore: @escaping OpenStore) {
    self.folder = folder
    self.workload = workload
    self.openStore = openStore
  }

  /// The number of system calls of some kinds that the workload makes without faults.
  ///
  /// - Throws: `FaultError`, what the store throws.
  public func count(_ calls: SystemCalls) async throws -> Int {
    let place = folder + "/count"
    try FileTree.make(place)
    defer { FileTree.remove(place) }
    let faults = try SystemFaults(below: place)
    let clock = ManualClock(now: StoreSample.start)
    let store = try await openStore(faults.folder + "/cache", clock)
    try await workload.run(on: store, clock: clock)
    return faults.count(calls)
  }

  /// Injects a fault into one call after the other, each in a separate run.
  ///
  /// - Parameters:
  ///   - calls: the kinds of calls.
  ///   - suffix: only calls on files whose path ends with this text.
  ///   - fault: the fault.
  ///   - times: the number of consecutive calls that fail; `Int.max` never ends.
  ///   - step: 1 takes every call, 2 every second one.
  /// - Throws: `FaultError`; what the store throws when it is opened without faults.
  public func failing(
    _ calls: SystemCalls, onFilesEndingIn suffix: String = "", with fault: SystemFault, times: Int = 1,
    step: Int = 1
  ) async throws -> SweepReport {
    var report = SweepReport()
    for number in stride(from: 1, through: try await count(calls), by: max(1, step)) {
      let place = folder + "/run-\(number)"
      try FileTree.make(place)
      defer { FileTree.remove(place) }
      report.runs += 1
      let faults = try SystemFaults(below: place)
      faults.fail(calls, onFilesEndingIn: suffix, with: fault, at: number, times: times)
      let missing = report.found.missing
      defer { if report.found.missing > missing { report.losses.append("\(fault) at call \(number)") } }
      do {
        try await run(faults, &report)
      } catch let violation as StoreViolation {
        report.violations.append("\(fault) at call \(number): \(violation)")
      }
    }
    return report
  }

  private func run(_ faults: SystemFaults, _ report: inout SweepReport) async throws {
    let directory = faults.folder + "/cache"
    let clock = ManualClock(now: StoreSample.start)
    var ledger = WorkloadLedger()
    do {
      let store = try await openStore(directory, clock)
      try await workload.run(on: store, clock: clock) { ledger.note(workload.steps[$0], $1) }
      faults.heal()
      report.found += try await WorkloadAudit.run(on: store, keys: workload.keys, ledger: ledger)
    } catch is CacheError {
      report.refusals += 1
      faults.heal()
    }
    try await audit(directory, ledger: ledger, isComplete: false, into: &report)
  }

  /// Opens a directory after a fault and reads all entries.
  func audit(
    _ directory: String, ledger: WorkloadLedger?, isComplete: Bool, into report: inout SweepReport
  ) async throws {
    let start = ContinuousClock.now
    let store: any CacheStore
    do {
      store = try await openStore(directory, ManualClock(now: StoreSample.start))
    } catch {
      throw StoreViolation(message: "does not open: \(error)", line: #line)
    }
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    let took = Int(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    report.slowestOpening = max(report.slowestOpening, took)
    do {
      report.found += try await WorkloadAudit.run(
        on: store, keys: workload.keys, ledger: ledger, isComplete: isComplete)
    } catch let error as CacheError {
      // An index that is found damaged in use is replaced; the new one must work.
      report.found.unreadable += 1
      await store.flush()
      do {
        report.found += try await WorkloadAudit.run(on: store, keys: workload.keys)
      } catch is CacheError {
        throw StoreViolation(message: "cannot be read: \(error)", line: #line)
      }
      if isComplete { throw StoreViolation(message: "was damaged: \(error)", line: #line) }
    }
  }
}

extension FaultSweep {
  /// Kills a process that runs the workload before each changing system call, and in the middle of each
  /// write, and opens the directory that it left.
  ///
  /// Each step that was done before must be there; the interrupted step may be done or not.
  ///
  /// - Parameters:
  ///   - program: the path of an executable whose main function calls `CrashWorker.run`.
  ///   - arguments: arguments for its main function, before those that `CrashWorker.run` takes.
  ///   - step: 1 takes every call, 2 every second one.
  /// - Throws: `FaultError`; what the store throws without faults.
  public func crashing(
    _ program: String, _ arguments: [String] = [], step: Int = 1
  ) async throws -> SweepReport {
    var report = SweepReport()
    // A background thread may make a few more or fewer calls each time.
    let last = try await count(.changing)
    for number in stride(from: 1, through: last, by: max(1, step)) {
      for way in ["before", "within"] {
        let place = folder + "/crashed-\(number)-\(way)"
        try FileTree.make(place)
        defer { FileTree.remove(place) }
        let child = try ChildProcess(
          program, arguments + [CrashWorker.argument, place, "\(number)", way] + workload.arguments)
        let told = child.readToEnd()
        let end = child.wait()
        report.runs += 1
        do {
          guard end.isExpectedOfKill else {
            throw StoreViolation(message: "the process ended otherwise: \(end)")
          }
          let ledger = CrashWorker.ledger(told, workload)
          try await audit(place + "/cache", ledger: ledger, isComplete: true, into: &report)
        } catch let violation as StoreViolation {
          report.violations.append("killed \(way) call \(number): \(violation)")
        }
      }
    }
    return report
  }
}

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
    var generator = SeededGenerator(seed: seed)
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
        try await audit(
          found + "/cache", ledger: isDurable ? ledger : nil, isComplete: isDurable, into: &report)
      } catch let violation as StoreViolation {
        report.violations.append(
          "power lost after \(moment) of \(changes.count) changes, seed \(seed &+ UInt64(run)): \(violation)")
      }
    }
    return report
  }
}
