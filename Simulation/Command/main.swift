import HTTPCacheLibC
import HTTPCacheSimulation

// simulate-races [--seed N] [--count N | --seconds N] [--scenario NAME | --scenarios]
//                [--fleet | --mutation NAME | --mistakes] [--strict | --allow KIND,…] [--trace] [--digests]
//
// Runs worlds, one for each seed from N on, and prints each rule that was broken, with the seed that breaks
// the rule again. Ends with 1 if a rule was broken that is neither known nor named by --allow; --strict
// allows none. With --fleet, processes share a tier; --mutation makes a mistake in its protocol
// (FleetPlan.Mutation). --mistakes makes each of them, and ends with 1 if the oracle does not find one of them.

// The order of dictionaries must follow from the seed as well.
if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
  setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
  var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
  execv("/proc/self/exe", &arguments)
}

guard let options = Options(Array(CommandLine.arguments.dropFirst())) else {
  print(Options.usage)
  exit(2)
}
CurrentSeed.tellWhenTrapped()
var isRight = true
if options.runsScenarios {
  for scenario in Scenario.all {
    var options = options
    options.scenario = scenario
    if !options.isStrict { options.allowed.formUnion(scenario.known) }
    print("scenario \(scenario.name)")
    if !Races(options).run() { isRight = false }
  }
} else if options.runsMistakes {
  for mutation in FleetPlan.Mutation.allCases {
    var options = options
    (options.fleet, options.stopsAtFirst) = (FleetPlan(mutation: mutation), true)
    print("mistake \(mutation.rawValue)")
    if Races(options).run() {
      print("WRONG: it is not found")
      isRight = false
    }
  }
} else {
  isRight = Races(options).run()
}
exit(isRight ? 0 : 1)
