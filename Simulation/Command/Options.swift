import HTTPCacheSimulation

/// The options of a run.
struct Options {
  static let usage = """
    usage: simulate-races [--seed N] [--count N | --seconds N] [--scenario NAME | --scenarios]
                          [--fleet | --mutation NAME | --mistakes] [--strict | --allow KIND,…]
                          [--trace] [--digests]
    """

  /// The first seed.
  var seed: UInt64 = 1
  /// The number of worlds; nil leaves the end to `seconds`.
  var count: Int?
  /// The longest time in seconds.
  var seconds = 30
  /// The world of which only the order of the steps changes; nil makes a world for each seed.
  var scenario: Scenario?
  /// How the processes of each world share a tier; nil if they do not.
  var fleet: FleetPlan?
  /// Whether to run each scenario, one after the other.
  var runsScenarios = false
  /// The rules that may be broken.
  var allowed = Violation.Kind.known
  /// Whether no violation is allowed, known or not.
  var isStrict = false
  /// Whether to look for each mistake in the protocol of a fleet.
  var runsMistakes = false
  /// Whether to end after the first world that breaks a rule.
  var stopsAtFirst = false
  /// Whether to print the digest of the steps of each world.
  var printsDigests = false
  /// Whether to print each step of each world.
  var traces = false

  /// Nil for arguments that are not of the usage.
  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      if name == "--trace" {
        traces = true
        continue
      }
      if name == "--strict" {
        isStrict = true
        allowed = []
        continue
      }
      if name == "--scenarios" {
        runsScenarios = true
        continue
      }
      if name == "--fleet" {
        fleet = FleetPlan()
        continue
      }
      if name == "--mistakes" {
        runsMistakes = true
        continue
      }
      if name == "--digests" {
        printsDigests = true
        continue
      }
      guard let value = rest.popFirst() else { return nil }
      switch name {
      case "--seed":
        guard let number = UInt64(value) else { return nil }
        seed = number
      case "--count":
        guard let number = Int(value), number > 0 else { return nil }
        count = number
      case "--seconds":
        guard let number = Int(value), number > 0 else { return nil }
        seconds = number
      case "--scenario":
        guard let found = Scenario.all.first(where: { $0.name == value }) else { return nil }
        scenario = found
      case "--mutation":
        guard let mutation = FleetPlan.Mutation(rawValue: value) else { return nil }
        fleet = FleetPlan(mutation: mutation)
      case "--allow":
        allowed = []
        for kind in value.split(separator: ",") {
          guard let kind = Violation.Kind(rawValue: String(kind)) else { return nil }
          allowed.insert(kind)
        }
      default: return nil
      }
    }
  }
}
