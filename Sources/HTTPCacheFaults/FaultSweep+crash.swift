import HTTPCacheTesting

extension FaultSweep {
  /// Kills a process that does the workload before each of its system calls that change something, and in
  /// the middle of each that writes, and opens what it left.
  ///
  /// All that was done before must be there, and what was under way either done or not.
  ///
  /// - Parameters:
  ///   - program: the path of an executable whose main function calls `CrashWorker.run`.
  ///   - arguments: what it is given before those that `CrashWorker.run` takes, for the main function.
  ///   - step: 1 takes every call, 2 every other one.
  /// - Throws: `FaultError`; what the store throws without faults.
  public func crashing(
    _ program: String, _ arguments: [String] = [], step: Int = 1
  ) async throws -> SweepReport {
    var report = SweepReport()
    // A thread in the background may make a few calls more or less each time.
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
          guard end == .killed(9) || end == .exited(0) else {
            throw StoreViolation(message: "the process ended otherwise: \(end)")
          }
          let ledger = CrashWorker.ledger(told, workload)
          try await audit(place + "/cache", ledger, isComplete: true, &report)
        } catch let violation as StoreViolation {
          report.violations.append("killed \(way) call \(number): \(violation)")
        }
      }
    }
    return report
  }
}
