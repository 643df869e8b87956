import HTTPCaching

extension World {
  /// Checks the callers while no job can run: a caller that still waits then waits for time or for another
  /// task.
  func checkCallers() {
    guard scheduler.isIdle, !scheduler.isOwnWorkPaused else { return }
    for number in callers.indices where callers[number].waitsForHead && !callers[number].isReported {
      let caller = callers[number]
      if caller.isCancelled {
        callers[number].isReported = true
        oracle.report(.cancelledWaits, "client \(number) was cancelled and waits")
      } else if let deadline = deadline(of: caller), scheduler.uptime > deadline {
        callers[number].isReported = true
        oracle.report(
          .late, "client \(number) waits at \(scheduler.uptime), until \(deadline) was its time")
      }
    }
  }

  /// The time by which a caller that waits for a head must get one, or an error. It is the caller's own time,
  /// however many requests it makes or waits for.
  private func deadline(of caller: Caller) -> Duration? {
    guard caller.waitsForHead, let began = caller.began, let timeout = caller.plan.timeout else { return nil }
    return began + timeout
  }

  /// The first moment at which a caller has waited too long.
  var nextDeadline: Duration? {
    callers.lazy.filter { !$0.isReported }.compactMap { self.deadline(of: $0) }.min().map {
      $0 + .milliseconds(1)
    }
  }

  /// Checks what is stored.
  func checkStored() {
    for memory in memories {
      for (partition, target) in keys {
        let key = CacheKey(mode: plan.mode, partition: partition, target: target)
        for variant in (try? memory.variants(of: key)) ?? [] { oracle.check(stored: variant.record) }
      }
    }
    checkShared()
  }

  /// The partitions and targets of all entries.
  var keys: [(partition: String, target: String)] {
    plan.partitions.flatMap { partition in
      plan.targets.map { (partition, SimulatedOrigin.site + $0.path) }
    }
  }

  /// Requests everything once more, from an origin without faults.
  func probe() {
    origin.isHealthy = true
    for process in caches.indices {
      for partition in plan.partitions.indices {
        for target in plan.targets.indices {
          for form in ["a", "b"] {
            ask(Operation.Client(process: process, target: target, partition: partition, form: form))
          }
        }
      }
    }
  }

  /// Checks that all requests have left nothing but entries.
  func checkEnd() async {
    for (process, cache) in caches.enumerated() {
      let unfinished = cache.unfinishedWork
      if unfinished != UnfinishedWork() { oracle.report(.leftover, "process \(process): \(unfinished)") }
    }
    for (index, memory) in memories.enumerated() {
      guard let page = try? await memory.entries(.all, after: nil, limit: .max / 4) else { continue }
      let sum = page.entries.reduce(0) { $0 + $1.size }
      if memory.usage.memoryBytes != sum || memory.usage.memoryEntries != page.entries.count {
        oracle.report(
          .uncounted, "store \(index): \(memory.usage.memoryBytes) bytes in use, \(sum) in entries")
      }
    }
    checkStored()
  }
}
