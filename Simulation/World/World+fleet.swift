import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching

extension World {
  /// Makes the caches of a fleet: a memory store for each process, and one tier.
  func makeFleet(_ configuration: HTTPCache.Configuration, _ fleet: FleetPlan, secret: [UInt8]) {
    let server = LoopbackServer(clock: scheduler)
    self.server = server
    for process in 0..<plan.processes {
      let memory = MemoryStore(
        capacity: plan.memoryCapacity, largestEntry: .bytes(plan.memoryCapacity), clock: scheduler,
        secret: secret)
      let tier = SimulatedTier(server, scheduler, fleet.mutation)
      tiers.append(tier)
      var configuration = configuration
      configuration.shared = tier
      configuration.fleet.nodeName = "n\(process)"
      configuration.observer = FleetWatch(process: process, oracle: oracle)
      add(
        HTTPCache(
          configuration: configuration,
          store: fleet.mutation == .appliesOnlyBefore ? ForgetfulStore(memory, tier) : memory), memory)
    }
  }

  /// Does something to the tier.
  func fail(_ fault: TierFault) {
    guard let server else { return }
    scheduler.note("tier: \(fault)")
    switch fault {
    case .replicate: server.replicate()
    case .failOver:
      // The clock of the new server is not behind: otherwise it may give a position twice, which is not promised.
      server.shiftClock(by: 1)
      server.failOver()
    case .flush:
      server.shiftClock(by: 1)
      server.flush()
    case .evict(let target):
      for partition in plan.partitions {
        server.evict(
          CacheKey(
            mode: plan.mode, partition: partition, target: SimulatedOrigin.site + plan.targets[target].path))
      }
    case .evictBodies: server.evictBodies()
    case .away(let process): tiers[process].base.isAway.toggle()
    case .unreadable: server.addUnreadableChange()
    }
  }

  /// Lets each process reach the tier.
  func healFleet() {
    for tier in tiers { tier.base.isAway = false }
  }

  /// Whether each process has met the server as it is now, read the whole log, and added its own changes.
  var isFleetSettled: Bool {
    guard let server else { return true }
    let last = server.log.last?.position ?? .start
    return zip(caches, tiers).allSatisfy { cache, tier in
      guard let status = cache.fleetStatus else { return true }
      return tier.base.hasMetServer && status.isConnected && status.pendingChanges == 0
        && status.position >= last
    }
  }

  /// The number of changes that a process has tried to add.
  func attemptedChanges(_ process: Int) -> Int {
    tiers.indices.contains(process) ? tiers[process].attempts.count : 0
  }

  /// The uid of the last change with a selection that a process has tried to add.
  ///
  /// - Parameter first: the number of earlier changes that do not count.
  func change(_ selection: CacheSelection, of process: Int, after first: Int) -> String? {
    guard tiers.indices.contains(process) else { return nil }
    return tiers[process].attempts[first...].last { $0.selection == selection }?.uid
  }

  /// Checks what the tier holds.
  func checkShared() {
    for (partition, target) in keys {
      let key = CacheKey(mode: plan.mode, partition: partition, target: target)
      for variant in server?.variants(key) ?? [] { oracle.check(stored: variant.record) }
    }
  }
}
