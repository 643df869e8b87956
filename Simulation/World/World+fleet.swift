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
    case .failOver: server.failOver()
    case .flush: server.flush()
    case .evict(let target):
      for partition in plan.partitions {
        server.evict(
          CacheKey(
            mode: plan.mode, partition: partition, target: SimulatedOrigin.site + plan.targets[target].path))
      }
    case .away(let process): tiers[process].base.isAway.toggle()
    case .unreadable: server.addUnreadableChange()
    }
  }

  /// Lets each process reach the tier.
  func healFleet() {
    for tier in tiers { tier.base.isAway = false }
  }

  /// Whether each process has read the whole log, and added its own changes.
  var isFleetSettled: Bool {
    guard let server else { return true }
    let last = server.log.last?.position ?? .start
    return caches.allSatisfy { cache in
      guard let status = cache.fleetStatus else { return true }
      return status.isConnected && status.pendingChanges == 0 && status.position >= last
    }
  }
}
