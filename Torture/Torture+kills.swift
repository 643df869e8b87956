import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheLibC
import HTTPCacheStore
import HTTPCacheTesting

extension Torture {
  /// Repeatedly kills four processes that share one directory, each at a random moment, and checks everything that is
  /// found afterwards.
  func kills() async throws -> Bool {
    let start = ContinuousClock.now
    var generator = SeededGenerator(seed: options.seed)
    var report = SweepReport()
    var steps = 0
    let place = try place("kills")
    var ledgers = [WorkloadLedger](repeating: WorkloadLedger(), count: KillWorker.processes)
    var killed = 0
    var round = 0
    while killed < options.kills {
      // Alternately with room for everything, where no entry may be lost, and with evictions.
      let isRoomy = round / 8 % 2 == 0
      if round % 16 == 0 {
        FileTree.remove(place + "/cache")
        ledgers = ledgers.map { _ in WorkloadLedger() }
      }
      let capacity: Int64 = isRoomy ? 1 << 28 : 8 << 20
      var children: [ChildProcess] = []
      var workloads: [StoreWorkload] = []
      for index in 0..<KillWorker.processes {
        let (seed, writer) = (generator.next() >> 1, round * KillWorker.processes + index + 1)
        workloads.append(KillWorker.ownWorkload(seed, index, writer))
        children.append(
          try ChildProcess(
            program,
            options.prefix + [
              KillWorker.argument, place + "/cache", "\(capacity)", "\(seed)", "\(index)", "\(writer)",
            ]))
      }
      let moments = children.map { _ in generator.between(2, 800) }
      let texts = await readAll(children, killingAfter: moments)
      for (index, child) in children.enumerated() {
        let end = child.wait()
        if !end.isExpectedOfKill {
          report.violations.append("round \(round): a process ended otherwise: \(end)")
        }
        for line in texts[index].split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
          guard let letter = line.first, let step = Int(line.dropFirst()) else { continue }
          steps += letter == "b" ? 0 : 1
          ledgers[index].note(
            workloads[index].steps[step], letter == "b" ? .begun : letter == "d" ? .done : .failed)
        }
      }
      killed += children.count
      report.runs += children.count
      try await audit(place + "/cache", capacity, &ledgers, isRoomy: isRoomy, "round \(round)", &report)
      round += 1
    }
    let store = try TortureStore(place + "/cache", isEncrypted: options.isEncrypted)
    _ = try await store.verify(repair: true)
    let last = try await store.verify(repair: false)
    if !last.isEmpty { report.violations.append("not sound after repair: \(last.joined(separator: "; "))") }
    say("kills of 4 processes under load: \(steps) steps, \(report) [\(seconds(since: start)) s]")
    return report.violations.isEmpty
  }

  // Threads wait, because the cooperative pool has few threads.
  private func readAll(_ children: [ChildProcess], killingAfter moments: [Int]) async -> [String] {
    await withTaskGroup(of: (Int, String).self) { group in
      for (index, child) in children.enumerated() {
        group.addTask {
          await withUnsafeContinuation { continuation in
            Self.onThread { continuation.resume(returning: (index, child.readToEnd())) }
          }
        }
        group.addTask {
          try? await Task.sleep(for: .milliseconds(moments[index]))
          child.kill()
          return (-1, "")
        }
      }
      var texts = [String](repeating: "", count: children.count)
      for await (index, text) in group where index >= 0 { texts[index] = text }
      return texts
    }
  }

  private static func onThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let context = Unmanaged.passRetained(Box(body)).toOpaque()
    pthread_create(
      &thread, nil,
      { pointer in
        #if canImport(Darwin)
          Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
        #else
          if let pointer { Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body() }
        #endif
        return nil
      }, context)
    pthread_detach(thread)
  }

  private func audit(
    _ directory: String, _ capacity: Int64, _ ledgers: inout [WorkloadLedger], isRoomy: Bool,
    _ name: String, _ report: inout SweepReport
  ) async throws {
    let start = ContinuousClock.now
    let opened: TortureStore
    do {
      opened = try TortureStore(directory, capacity: capacity, isEncrypted: options.isEncrypted)
    } catch {
      report.violations.append("\(name): does not open: \(error)")
      return
    }
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    report.slowestOpening = max(
      report.slowestOpening, Int(seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
    let notes = opened.disk.openingNotes
    if !notes.isEmpty { report.violations.append("\(name): \(notes)") }
    let store = opened.store
    defer {
      for error in opened.damage.all { report.violations.append("\(name): \(error)") }
    }
    for index in ledgers.indices {
      let keys = index * KillWorker.ownKeys..<(index + 1) * KillWorker.ownKeys
      do {
        let found = try await WorkloadAudit.run(
          on: store, keys: keys, ledger: ledgers[index], isComplete: isRoomy)
        if found.unreadable > 0 {
          report.violations.append("\(name): \(found.unreadable) bodies cannot be read")
        }
        report.found += found
      } catch let violation as StoreViolation {
        report.violations.append("\(name), process \(index): \(violation)")
      }
      // The found versions are the expected ones from now on.
      ledgers[index] = try WorkloadLedger(of: store, keys: keys)
    }
    do {
      report.found += try await WorkloadAudit.run(on: store, keys: KillWorker.sharedKeys)
    } catch let violation as StoreViolation {
      report.violations.append("\(name), shared keys: \(violation)")
    }
  }
}
