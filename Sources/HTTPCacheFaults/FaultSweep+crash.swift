import HTTPCacheTesting

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
          try await audit(place + "/cache", ledger, isComplete: true, &report)
        } catch let violation as StoreViolation {
          report.violations.append("killed \(way) call \(number): \(violation)")
        }
      }
    }
    return report
  }
}
