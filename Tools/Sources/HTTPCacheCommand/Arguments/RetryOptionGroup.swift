import ArgumentParser

/// The options for retries, spelled as curl's.
struct RetryOptionGroup: ParsableArguments {
  @Option(
    name: .customLong("retry"), parsing: .unconditional,
    help: ArgumentHelp(
      "Retry this many times after a failed connection, a timeout, a response that breaks off, or one of "
        + "the statuses 408, 429, 500, 502, 503 and 504. Retry-After sets the time. "
        + "(default: 0; 7 for a queue)",
      valueName: "count"))
  var count: Int?

  @Option(
    name: .customLong("retry-delay"), parsing: .unconditional,
    help: "Seconds to wait before a retry; by default 1, then twice as long each time.",
    transform: SecondsArgument.number)
  var delay: Double?

  @Option(
    name: .customLong("retry-max-time"), parsing: .unconditional,
    help: "Begin no retry later than this many seconds after the first try.",
    transform: SecondsArgument.number)
  var maxTime: Double?

  @Flag(
    name: .customLong("retry-connrefused"),
    help: "Has no effect: --retry always includes refused connections.")
  var retriesRefusedConnections = false

  /// The waiting times between tries.
  var rule: RetryBudget.Rule { RetryBudget.Rule(count: count ?? 0, delay: delay, maxTime: maxTime) }

  func validate() throws {
    if let count, !(0...1_000_000).contains(count) {
      throw ValidationError("--retry must be from 0 to 1000000 (got \(count))")
    }
    for (name, seconds) in [("--retry-delay", delay), ("--retry-max-time", maxTime)] {
      guard let seconds, !(0...1e6).contains(seconds) else { continue }
      throw ValidationError("\(name) must be from 0 to 1000000 seconds (got \(seconds))")
    }
  }
}
