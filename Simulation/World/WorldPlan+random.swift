import HTTPCacheSemantics
import HTTPCacheTesting

extension WorldPlan {
  /// A small world.
  static func random(_ random: inout SeededGenerator) -> WorldPlan {
    var plan = WorldPlan()
    plan.stores = random.chance(0.4) ? .memory : .tiered
    plan.processes = plan.stores == .tiered && random.chance(0.5) ? 2 : 1
    plan.partitions = random.chance(0.2) ? ["", "p"] : [""]
    plan.mode = random.chance(0.3) ? .shared : .private
    plan.hook = random.pick([.none, .none, .immediate, .suspending])
    plan.targets = (0..<random.pick([1, 1, 2, 3])).map { target($0, &random) }
    plan.memoryCapacity = random.pick([1 << 20, 1 << 20, 4_000])
    plan.diskCapacity = random.pick([1 << 20, 1 << 20, 6_000])
    plan.originFaults = random.pick([0, 0, 0.1, 0.4])
    plan.storeFaults = plan.stores == .tiered ? random.pick([0, 0, 0, 0.1]) : 0
    plan.hasTimeouts = random.chance(0.4)
    plan.jumps = random.chance(0.2)

    plan.operations = script(plan, &random)
    plan.weights = weights(&random)
    return plan
  }

  private static func target(_ index: Int, _ random: inout SeededGenerator) -> Target {
    var target = Target(path: ["/a", "/b?q=1", "/dir/c"][index])
    target.tags = random.pick([.strong, .strong, .strongAndDate, .weakShared, .dateOnly, .none])
    target.varying = random.pick([.never, .always, .always, .fromVersion(2)])
    target.lifetime = random.pick([0, 5, 1_000, 1_000])
    target.otherDirectives = random.pick([
      "", "", ", stale-while-revalidate=20", ", stale-if-error=50", ", must-revalidate", ", no-cache",
    ])
    target.unstorableEvery = random.pick([0, 0, 0, 2, 3])
    target.isInGroup = random.chance(0.3)
    target.goneEvery = random.pick([0, 0, 0, 2, 3])
    target.length = random.pick([24, 40, 90])
    target.chunk = random.pick([8, 30, 200])
    target.tellsLength = random.chance(0.7)
    target.acceptsRanges = random.chance(0.3)
    target.sharesThirdVersion = random.chance(0.3)
    target.confirmation = random.pick([.whole, .whole, .date, .bare])
    return target
  }

  private static func script(_ plan: WorldPlan, _ random: inout SeededGenerator) -> [Operation] {
    var operations: [Operation] = []
    for _ in 0..<(3 + random.below(10)) {
      switch random.below(20) {
      case 0..<10: operations.append(.client(client(plan, &random)))
      case 10, 11:
        var client = client(plan, &random)
        client.method = .put
        client.range = nil
        client.invalidatesGroup = random.chance(0.3)
        operations.append(.client(client))
      case 12, 13:
        operations.append(
          .purge(
            Operation.Purge(
              process: random.below(plan.processes), target: random.below(plan.targets.count),
              partition: random.below(plan.partitions.count),
              scope: random.pick(Operation.Purge.Scope.allCases),
              removes: random.chance(0.5))))
      case 14: operations.append(.cancel(back: random.below(3)))
      case 15: operations.append(.change(target: random.below(plan.targets.count)))
      case 16: operations.append(.advance(seconds: random.pick([1, 4, 10, 30, 2_000])))
      case 17: operations.append(plan.jumps ? .jump(seconds: random.pick([-3_000, -5, 5, 3_000])) : .settle)
      default: operations.append(.settle)
      }
    }
    return operations
  }

  /// A request of any kind.
  static func client(_ plan: WorldPlan, _ random: inout SeededGenerator) -> Operation.Client {
    var client = Operation.Client()
    client.process = random.below(plan.processes)
    client.target = random.below(plan.targets.count)
    client.partition = random.below(plan.partitions.count)
    client.form = random.pick(["a", "a", "b"])
    client.method = random.chance(0.08) ? .head : .get
    client.policy = random.pick([
      .standard, .standard, .standard, .standard, .standard, .revalidate, .cacheElseNetwork, .reload,
    ])
    if plan.targets[client.target].acceptsRanges, client.method == .get, random.chance(0.3) {
      let start = random.pick([0, 0, random.below(20)])
      client.range = start..<random.pick([.max, .max, 40, start + 1 + random.below(30)])
    }
    client.reading = random.chance(0.12) ? .leaves : .whole
    if plan.hasTimeouts, random.chance(0.6) { client.timeout = .seconds(random.pick([1, 3, 10])) }
    client.clearsSite = random.chance(0.04)
    return client
  }

  /// How likely the kinds of steps are.
  static func weights(_ random: inout SeededGenerator) -> Scheduler.Weights {
    var weights = Scheduler.Weights()
    weights.job = random.pick([1, 4, 30])
    weights.operation = random.pick([0.05, 0.3, 1, 3])
    weights.time = random.pick([0.002, 0.02, 0.2])
    for place in Place.allCases where place != .sleep && !place.isOfTier {
      weights.places[place.rawValue] = random.pick([0.02, 0.2, 1, 1, 5])
    }
    return weights
  }
}
