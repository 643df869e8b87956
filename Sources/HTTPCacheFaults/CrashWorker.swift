import HTTPCacheLibC
public import HTTPCacheTesting

/// The part of a crash sweep that runs in a separate process and is killed there. The main function of the
/// program for `FaultSweep.crashing` calls it.
public enum CrashWorker {
  /// The first argument of such a process.
  public static let argument = "crash-worker"

  /// Runs the workload in the directory of the arguments, and is killed at their system call.
  ///
  /// - Parameters:
  ///   - arguments: the arguments of the process, without its name.
  ///   - openStore: opens the store.
  /// - Returns: false if the arguments have another purpose.
  /// - Throws: `FaultError`, what the store throws.
  public static func run(
    _ arguments: [String], openStore: FaultSweep.OpenStore
  ) async throws -> Bool {
    guard arguments.count == 10, arguments[0] == Self.argument, let number = Int(arguments[2]),
      let workload = StoreWorkload(arguments: arguments[4...])
    else { return false }
    let faults = try SystemFaults(below: arguments[1])
    faults.fail(.changing, with: arguments[3] == "within" ? .killWithin : .kill, at: number)
    let clock = ManualClock(now: StoreSample.start)
    let store = try await openStore(faults.folder + "/cache", clock)
    try await workload.run(on: store, clock: clock) { tell($0, $1) }
    return true
  }

  private static func tell(_ step: Int, _ outcome: WorkloadOutcome) {
    let letter =
      switch outcome {
      case .begun: "b"
      case .done: "d"
      case .failed: "f"
      }
    let line = Array("\(letter)\(step)\n".utf8)
    _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
  }

  /// The ledger for the output of a process that was killed.
  static func ledger(_ told: String, _ workload: StoreWorkload) -> WorkloadLedger {
    var ledger = WorkloadLedger()
    // A line without its end may be cut.
    for line in told.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      guard let letter = line.first, let step = Int(line.dropFirst()),
        workload.steps.indices.contains(step)
      else { continue }
      ledger.note(
        workload.steps[step], letter == "b" ? .begun : letter == "d" ? .done : .failed)
    }
    return ledger
  }
}
