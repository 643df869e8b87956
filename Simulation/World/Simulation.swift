import HTTPCacheTesting
import HTTPCaching

/// Runs the world of a seed from start to end.
package struct Simulation: Sendable {
  /// The result of a run.
  package struct Result: Sendable {
    /// The seed, which makes the same result again.
    package let seed: UInt64
    /// A digest of each choice that was made.
    package let digest: UInt64
    /// The number of steps.
    package let steps: Int
    /// The violations, in order.
    package let violations: [Violation]
    /// The notes, one line each; empty unless `keepsNotes`.
    package let notes: [String]
  }

  // A world takes some hundred steps; more than this many is a world without an end.
  private static let mostSteps = 200_000

  /// Makes and runs the world of a seed.
  ///
  /// - Parameters:
  ///   - seed: determines the world, its script and the order of all steps.
  ///   - scenario: the world to be used instead of the seed's own; the seed then determines the order alone.
  ///   - fleet: how processes share a tier, in a world of its own or in a scenario that has a fleet; nil for the
  ///     scenario's own, and for a world without a tier.
  ///   - keepsNotes: whether the result tells what happened.
  package static func run(
    seed: UInt64, scenario: Scenario? = nil, fleet: FleetPlan? = nil, keepsNotes: Bool = false
  ) -> Result {
    var random = SeededGenerator(seed: seed)
    var plan: WorldPlan
    if let scenario {
      plan = scenario.plan
      plan.weights = WorldPlan.weights(&random)
      if plan.fleet != nil {
        if let fleet { plan.fleet = fleet }
        plan.setFleetWeights(&random)
      }
    } else {
      plan = fleet.map { WorldPlan.randomFleet($0, &random) } ?? WorldPlan.random(&random)
    }
    let scheduler = Scheduler(
      random: SeededGenerator(seed: random.next()), weights: plan.weights, keepsNotes: keepsNotes)
    let world = World(plan: plan, scheduler: scheduler, random: SeededGenerator(seed: random.next()))
    scheduler.tell("\(plan)")
    drive(world)
    scheduler.nextOperation = nil
    scheduler.nextCheck = nil
    return Result(
      seed: seed, digest: scheduler.digest, steps: scheduler.steps, violations: world.oracle.violations,
      notes: scheduler.notes)
  }

  private static func drive(_ world: World) {
    let scheduler = world.scheduler
    guard run(world, until: { world.isDone }) else { return }
    scheduler.note("the script is done")
    world.checkStored()
    scheduler.settle()
    world.healFleet()
    guard run(world, until: { world.isFleetSettled }) else { return }
    world.oracle.isFleetSettled = true
    scheduler.note("all changes are read")
    world.probe()
    guard run(world, until: { world.active == 0 }) else { return }
    world.active += 1
    scheduler.start {
      for cache in world.caches { await cache.finishBackgroundWork(within: .seconds(30)) }
      world.active -= 1
    }
    guard run(world, until: { world.active == 0 }) else { return }
    for cache in world.caches { cache.stopFollowing() }
    while scheduler.steps < mostSteps, scheduler.step() {}
    scheduler.note("the end")
    world.active += 1
    scheduler.start {
      await world.checkEnd()
      world.active -= 1
    }
    _ = run(world, until: { world.active == 0 })
    if scheduler.executor.hasForeignJob {
      world.oracle.report(.foreignThread, "a task of the cache ran on another thread")
    }
  }

  /// Takes steps until something holds.
  ///
  /// - Returns: false if that never comes.
  private static func run(_ world: World, until isOver: () -> Bool) -> Bool {
    while !isOver() {
      guard world.scheduler.steps < mostSteps else {
        world.oracle.report(.endless, "\(mostSteps) steps, and no end")
        return false
      }
      guard world.scheduler.step() else {
        let waiting = world.callers.indices.filter { !world.callers[$0].isDone }
        world.oracle.report(.stuck, "nothing can go on; clients \(waiting) are not done")
        return false
      }
      world.checkCallers()
    }
    return true
  }
}
