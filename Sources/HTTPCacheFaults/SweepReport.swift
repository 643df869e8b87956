public import HTTPCacheTesting

/// What a sweep of faults did and found.
public struct SweepReport: Sendable, CustomStringConvertible {
  /// How many faults were made, one run each.
  public var runs = 0
  /// What was read afterwards, over all runs.
  public var found = WorkloadAudit()
  /// Runs in which the store could not be opened while the fault was there.
  public var refusals = 0
  /// The longest time that opening took afterwards, in milliseconds.
  public var slowestOpening = 0
  /// Runs after which something was missing that the store had called done: it is fetched again.
  public var losses: [String] = []
  /// What must not be, with the run it was found in.
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
