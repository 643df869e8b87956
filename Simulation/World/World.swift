import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching

/// One world: caches of some processes, their clients and an origin, on the executor of a scheduler.
///
/// `@unchecked Sendable` because only the thread that runs the simulation uses it.
final class World: @unchecked Sendable {
  /// A caller and how far it has come.
  struct Caller {
    let plan: Operation.Client
    var began: Duration?
    let upstream: ClientUpstream
    var task: Task<Void, Never>?
    var waitsForHead = true
    var isDone = false
    var isCancelled = false
    var isReported = false
  }

  let plan: WorldPlan
  let scheduler: Scheduler
  let origin: SimulatedOrigin
  let oracle: Oracle
  private(set) var caches: [HTTPCache] = []
  /// Each memory store of the world, those of tiers and that of the simulated files too.
  private(set) var memories: [MemoryStore] = []
  /// The tier of a fleet, and the connection of each process.
  var server: LoopbackServer?
  var tiers: [SimulatedTier] = []
  var callers: [Caller] = []
  /// The operations that have begun and are not done.
  var active = 0
  private var position = 0

  init(plan: WorldPlan, scheduler: Scheduler, random: SeededGenerator) {
    var random = random
    self.plan = plan
    self.scheduler = scheduler
    origin = SimulatedOrigin(plan: plan, scheduler: scheduler, random: SeededGenerator(seed: random.next()))
    oracle = Oracle(origin: origin)
    makeCaches(SeededGenerator(seed: random.next()))
    scheduler.nextOperation = { [unowned self] in nextOperation() }
    scheduler.nextCheck = { [unowned self] in nextDeadline }
  }

  private func makeCaches(_ random: SeededGenerator) {
    var configuration = HTTPCache.Configuration(
      memoryCapacity: plan.memoryCapacity, rules: CacheRules(mode: plan.mode, removesGone: plan.removesGone),
      willStore: hook,
      clock: scheduler)
    configuration.executor = scheduler.executor
    let secret = [UInt8](repeating: 9, count: 32)
    if let fleet = plan.fleet { return makeFleet(configuration, fleet, secret: secret) }
    let faults = StoreFaults(random, probability: plan.storeFaults)
    let files = SimulatedFiles(capacity: plan.diskCapacity, clock: scheduler)
    if plan.stores == .tiered { memories.append(files.entries) }
    for _ in 0..<plan.processes {
      let memory = MemoryStore(
        capacity: plan.memoryCapacity, largestEntry: .bytes(plan.memoryCapacity), clock: scheduler,
        secret: secret)
      memories.append(memory)
      let store: any CacheStore =
        plan.stores == .memory
        ? memory
        : TieredStore(
          memory: memory,
          base: SimulatedDisk(files, scheduler) { [origin] in
            !origin.isHealthy && faults.next()
          })
      caches.append(HTTPCache(configuration: configuration, store: store))
    }
  }

  /// Adds the cache of a process.
  func add(_ cache: HTTPCache, _ memory: MemoryStore) {
    caches.append(cache)
    memories.append(memory)
  }

  /// Refuses every fourth response.
  private var hook: StoringHook? {
    if plan.hook == .none { return nil }
    return StoringHook { [unowned self] _, proposal in
      if plan.hook == .suspending, case .cancelled = await scheduler.pause(.hook) {
        throw CancellationError()
      }
      return decide(proposal)
    }
  }

  private func decide(_ proposal: ProposedRecord) -> ProposedRecord? {
    guard let serial = proposal.head.headerFields[.serial].flatMap({ Int($0) }), serial % 4 == 0 else {
      return proposal
    }
    oracle.refused.insert(serial)
    return nil
  }

  // MARK: The script

  private func nextOperation() -> (() -> Void)? {
    guard position < plan.operations.count, position > 0 || !plan.joinsFirst || isFleetSettled else {
      return nil
    }
    let operation = plan.operations[position]
    switch operation {
    case .settle where active > 0: return nil
    case .advance where !scheduler.isIdle: return nil
    default: break
    }
    return { [self] in
      position += 1
      begin(operation)
    }
  }

  private func begin(_ operation: Operation) {
    switch operation {
    case .client(let plan): ask(plan)
    case .purge(let plan): purge(plan)
    case .cancel(let back):
      let index = callers.count - 1 - back
      guard callers.indices.contains(index), !callers[index].isDone else { return }
      scheduler.note("client \(index) gives up", index)
      callers[index].isCancelled = true
      callers[index].task?.cancel()
    case .change(let target): origin.change(target)
    case .advance(let seconds): scheduler.advance(by: .seconds(seconds))
    case .jump(let seconds): scheduler.jump(by: Int64(seconds))
    case .tier(let fault): fail(fault)
    case .settle: break
    }
  }

  /// Whether all operations are done.
  var isDone: Bool { position >= plan.operations.count && active == 0 }
}

/// Decides which calls to the simulated disk fail.
///
/// `@unchecked Sendable` because only the thread that runs the simulation uses it.
final class StoreFaults: @unchecked Sendable {
  private var random: SeededGenerator
  private let probability: Double

  init(_ random: SeededGenerator, probability: Double) {
    self.random = random
    self.probability = probability
  }

  /// Whether the next call fails.
  func next() -> Bool { probability > 0 && random.chance(probability) }
}
