import ArgumentParser

/// The options for retries, spelled as curl's.
struct RetryOptionGroup: ParsableArguments {
  @Option(
    name: .customLong("retry"),
    help: ArgumentHelp(
      "Try again this many times: after no connection, no response in time, a response that breaks off, and "
        + "the statuses 408, 429, 500, 502, 503 and 504. Retry-After says when.", valueName: "count"))
  var count = 0

  @Option(
    name: .customLong("retry-delay"),
    help: "Seconds to wait before trying again; by default 1, then twice as long each time.")
  var delay: Double?

  @Option(
    name: .customLong("retry-max-time"),
    help: "No new try later than this many seconds after the first.")
  var maxTime: Double?

  @Flag(
    name: .customLong("retry-connrefused"),
    help: "Accepted as curl's; refused connections are tried again anyway.")
  var retriesRefusedConnections = false

  /// The waiting times between tries.
  var rule: RetryBudget.Rule { RetryBudget.Rule(count: count, delay: delay, maxTime: maxTime) }

  func validate() throws {
    guard (0...1_000_000).contains(count) else {
      throw ValidationError("--retry must be from 0 to 1000000 (got \(count))")
    }
    for (name, seconds) in [("--retry-delay", delay), ("--retry-max-time", maxTime)] {
      guard let seconds, !(0...1e6).contains(seconds) else { continue }
      throw ValidationError("\(name) must be from 0 to 1000000 seconds (got \(seconds))")
    }
  }
}
