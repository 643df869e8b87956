import Foundation
import HTTPCacheFaults
import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import Synchronization
import Testing

/// Errors of system calls, and power losses, under an encrypted store. Kills at each call are what
/// `cache-torture --encrypted` does, since they need processes of their own.
@Suite(.timeLimit(.minutes(10)), .enabled(if: SystemFaults.isAvailable)) struct SealedFaultTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  /// Damage that the cipher found, but the checksums did not.
  private final class Damage: Sendable {
    let errors = Mutex<[CacheError]>([])
  }

  private func sweep(
    _ damage: Damage, _ durability: Durability = .relaxed
  ) -> FaultSweep {
    FaultSweep(folder: directory.path, workload: StoreWorkload(seed: 12, count: 24)) { path, clock in
      let disk = try DiskStore.open(
        directory: path, capacity: 1 << 28, options: DiskStore.Options(durability: durability), clock: clock)
      return try Self.sealed(disk) { error in damage.errors.withLock { $0.append(error) } }
    }
  }

  private static func sealed(
    _ disk: DiskStore, onDamage: (@Sendable (CacheError) -> Void)? = nil
  ) throws -> SealedStore {
    _ = try disk.removePlain()
    let cipher = try CacheEncryption.key(try EncryptionKey(0..<32)).cipher(secret: disk.secret)
    return try SealedStore(base: disk, cipher: cipher, onDamage: onDamage)
  }

  @Test(
    "one failing call costs no more than what was under way, and nothing that was sealed is damaged",
    arguments: [
      (SystemCalls.changing, SystemFault.noSpace, 61), (.all, .inputOutput, 97), (.open, .tooManyFiles, 17),
      (.read, .short(bytes: 7), 31), (.write, .torn(bytes: 512), 31),
    ])
  func once(calls: SystemCalls, fault: SystemFault, step: Int) async throws {
    let damage = Damage()
    let report = try await sweep(damage).failing(calls, with: fault, step: step)
    #expect(report.violations.isEmpty, "\(report)")
    #expect(report.found.whole > 0, "\(report)")
    #expect(report.found.unreadable == 0, "\(report)")
    #expect(report.found.missing == 0, "\(report)")
    #expect(damage.errors.withLock { $0.isEmpty }, "\(damage.errors.withLock { $0 })")
  }

  @Test(
    "a disk that is full or broken from some call on is survived",
    arguments: [SystemFault.noSpace, .inputOutput])
  func fromThereOn(fault: SystemFault) async throws {
    let damage = Damage()
    let calls: SystemCalls = fault == .noSpace ? [.write, .allocate, .makeDirectory] : .all
    let report = try await sweep(damage).failing(calls, with: fault, times: .max, step: 127)
    #expect(report.violations.isEmpty, "\(report)")
    #expect(report.found.missing == 0, "\(report)")
    #expect(damage.errors.withLock { $0.isEmpty }, "\(damage.errors.withLock { $0 })")
  }

  @Test("after power loss it opens and has no wrong body; what was durable is there")
  func powerLoss() async throws {
    for durability in [Durability.relaxed, .durable] {
      let report = try await sweep(Damage(), durability).powerLoss(
        runs: 10, seed: 5, isDurable: durability == .durable)
      #expect(report.violations.isEmpty, "\(durability): \(report)")
    }
  }

  @Test("whatever fails while the plain past is removed, it is gone once an opening succeeds")
  func removal() async throws {
    let plain = directory.path + "/plain"
    let secret = "secret-host"
    do {
      let disk = try DiskStore.open(directory: plain, capacity: 1 << 28)
      for (number, count) in [10, 20_000, 300_000].enumerated() {
        let key = CacheKey(mode: .private, target: "https://\(secret).example/\(number)")
        let writer = try await disk.write(
          CacheRecord(key: key, response: StoreSample.response()), variantLimit: 8)
        try await writer.append(StoreSample.body(count))
        try await writer.commit(trailers: [:])
      }
      await disk.flush()
    }
    #expect(directory.contains(secret, in: plain))
    for fault in [SystemFault.inputOutput, .noSpace] {
      for number in stride(from: 1, through: 600, by: 29) {
        let folder = directory.path + "/run-\(fault)-\(number)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let faults = try SystemFaults(below: folder)
        let path = faults.folder + "/cache"
        try FileManager.default.copyItem(atPath: plain, toPath: path)
        faults.fail(.all, with: fault, at: number, times: .max)
        let failed = (try? Self.sealed(try DiskStore.open(directory: path, capacity: 1 << 28))) == nil
        faults.heal()
        let store = try Self.sealed(try DiskStore.open(directory: path, capacity: 1 << 28))
        #expect(!directory.contains(secret, in: path), "\(fault) at call \(number)")
        #expect(try store.read(CacheKey(mode: .private, target: "https://\(secret).example/0")).isEmpty)
        if !failed { break }
      }
    }
  }
}

extension ScratchFolder {
  fileprivate func contains(_ text: String, in folder: String) -> Bool {
    (FileManager.default.subpaths(atPath: folder) ?? []).contains {
      FileManager.default.contents(atPath: folder + "/" + $0)?.range(of: Data(text.utf8)) != nil
    }
  }
}
