import HTTPCacheSemantics
import HTTPCacheTesting
import HTTPCaching

extension WorldPlan {
  /// A small world of two or three processes that share a tier.
  static func randomFleet(_ fleet: FleetPlan, _ random: inout SeededGenerator) -> WorldPlan {
    var plan = WorldPlan()
    plan.fleet = fleet
    plan.mode = .shared
    plan.processes = random.pick([2, 2, 3])
    plan.targets = (0..<random.pick([1, 1, 2, 3])).map { number in
      var target = Target(path: ["/a", "/b?q=1", "/dir/c"][number])
      target.varying = random.pick([.never, .never, .always])
      target.lifetime = random.pick([5, 1_000, 1_000, 1_000])
      target.isInGroup = random.chance(0.3)
      target.unstorableEvery = random.pick([0, 0, 0, 3])
      // The longest is just too long to be kept with its record.
      target.length = random.pick([24, 90, 90, SharedVariant.longestInlineBody + 1])
      target.chunk = target.length > 1_000 ? random.pick([6_000, 20_000]) : 30
      target.acceptsRanges = random.chance(0.2)
      return target
    }
    plan.hook = random.pick([.none, .none, .none, .immediate])
    plan.originFaults = random.pick([0, 0, 0, 0.1])
    plan.joinsFirst = random.chance(0.8)
    plan.operations = fleetScript(plan, &random)
    plan.weights = weights(&random)
    plan.setFleetWeights(&random)
    return plan
  }

  /// Chooses how likely the steps are that only a fleet has.
  mutating func setFleetWeights(_ random: inout SeededGenerator) {
    for place in Place.allCases where place.isOfTier {
      weights.places[place.rawValue] = random.pick([0.2, 1, 5])
    }
    // The log is followed all the time, so that time always can pass.
    weights.time = random.pick([0.001, 0.01, 0.1])
  }

  private static func fleetScript(_ plan: WorldPlan, _ random: inout SeededGenerator) -> [Operation] {
    var operations: [Operation] = []
    for _ in 0..<(6 + random.below(9)) {
      let (process, target) = (random.below(plan.processes), random.below(plan.targets.count))
      switch random.below(20) {
      case 0..<8:
        operations.append(
          .client(
            Operation.Client(process: process, target: target, form: random.pick(["a", "a", "b"]))))
      case 8..<11: operations.append(.client(client(plan, &random)))
      case 11:
        operations.append(
          .client(Operation.Client(method: .put, process: process, target: target)))
      case 12..<16:
        operations.append(
          .purge(
            Operation.Purge(
              process: process, target: target, scope: random.pick(Operation.Purge.Scope.allCases),
              removes: random.chance(0.5))))
      case 16:
        operations.append(.tier(random.pick([.replicate, .replicate, .failOver, .failOver, .flush])))
      case 17:
        operations.append(
          .tier(
            random.pick([
              .evict(target: target), .evict(target: target), .evictBodies, .away(process: process),
              .away(process: process), .unreadable,
            ])))
      case 18: operations.append(.advance(seconds: random.pick([1, 4, 10, 70])))
      default: operations.append(.settle)
      }
    }
    return operations
  }
}
