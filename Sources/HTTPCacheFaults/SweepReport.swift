public import HTTPCacheTesting

/// The result of a sweep of faults.
public struct SweepReport: Sendable, CustomStringConvertible {
  /// The number of faults; each is one run.
  public var runs = 0
  /// The bodies read afterwards, over all runs.
  public var found = WorkloadAudit()
  /// The number of runs in which the store could not be opened during the fault.
  public var refusals = 0
  /// The longest time of opening afterwards, in milliseconds.
  public var slowestOpening = 0
  /// Runs after which an entry was missing that the store had reported as stored: it is fetched again.
  public var losses: [String] = []
  /// Violations, each with its run.
  public var violations: [String] = []

  /// Makes an empty report.
  public init() {}

  /// Figures, then a line for each violation.
  public var description: String {
    let head = """
      \(runs) runs, \(found.whole) whole bodies and \(found.parts) parts compared \
      (\(found.bytes) bytes), \(found.unreadable) found damaged, \(found.missing) missing, \
      \(refusals) not opened under the fault, slowest opening \(slowestOpening) ms, \
      \(violations.count) violations
      """
    return ([head] + losses.prefix(5).map { "lost: " + $0 } + violations.prefix(20)).joined(separator: "\n")
  }
}
