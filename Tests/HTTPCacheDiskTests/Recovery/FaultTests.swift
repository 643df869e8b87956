import Foundation
import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheFiles
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Fails system calls one after the other, including those of SQLite. `cache-torture` kills the process at each
/// call, because that needs a process for each kill.
@Suite(.timeLimit(.minutes(10)), .enabled(if: SystemFaults.isAvailable)) struct FaultTests {
  private func sweep(
    _ directory: ScratchFolder, _ durability: Durability = .relaxed
  ) -> FaultSweep {
    FaultSweep(folder: directory.path, workload: StoreWorkload(seed: 11, count: 24)) { path, clock in
      try DiskStore.open(
        directory: path, capacity: 1 << 28, options: DiskStore.Options(durability: durability), clock: clock)
    }
  }

  @Test("the system calls of SQLite are intercepted")
  func caught() throws {
    let directory = try ScratchFolder()
    let faults = try SystemFaults(below: directory.path, recordsChanges: true)
    _ = try DiskStore.open(directory: faults.folder + "/cache", capacity: 1 << 24)
    let created = faults.changes.compactMap { change in
      if case .created(let path, _) = change { return path }
      return nil
    }
    #expect(created.contains("cache/Cache.db-wal"))
    #expect(faults.count(.write) > 2)
    #expect(faults.count(.sync) > 0)
  }

  @Test(
    "one failing call costs at most the running operation: no wrong body, no wrong entry",
    arguments: [
      (SystemCalls.changing, SystemFault.noSpace), (.all, .inputOutput), (.open, .tooManyFiles),
      (.read, .short(bytes: 7)), (.write, .short(bytes: 100)), (.write, .torn(bytes: 512)),
    ])
  func once(calls: SystemCalls, fault: SystemFault) async throws {
    let directory = try ScratchFolder()
    // A step of 7 for opening, because few files are opened.
    let report = try await sweep(directory).failing(calls, with: fault, step: calls == .open ? 7 : 41)
    #expect(report.violations.isEmpty, "\(report)")
    #expect(report.found.whole > 0)
    #expect(report.found.unreadable == 0, "\(report)")
    #expect(report.found.missing == 0, "\(report)")
  }

  @Test(
    "a store survives a disk that is full or broken from some call on, and works again afterwards",
    arguments: [
      (SystemCalls([.write, .allocate, .makeDirectory]), SystemFault.noSpace), (.all, .inputOutput),
    ])
  func fromThereOn(calls: SystemCalls, fault: SystemFault) async throws {
    let directory = try ScratchFolder()
    let report = try await sweep(directory).failing(
      calls, with: fault, times: .max, step: 61)
    #expect(report.violations.isEmpty, "\(report)")
    // A disk that stays full may cost stored bodies: a removal then deletes files before their rows.
    if fault == .inputOutput { #expect(report.found.missing == 0, "\(report)") }
  }

  @Test("after a power loss the store opens without wrong bodies and has all durable ones")
  func powerLoss() async throws {
    for durability in [Durability.relaxed, .durable] {
      let directory = try ScratchFolder()
      let report = try await sweep(directory, durability).powerLoss(
        runs: 25, seed: 5, isDurable: durability == .durable)
      #expect(report.violations.isEmpty, "\(durability): \(report)")
    }
  }

  @Test("without space for a log, and on a read-only file system, nothing is stored and nothing breaks")
  func noLog() async throws {
    for (suffix, fault) in [
      ("-wal", SystemFault.noSpace), ("-shm", .noSpace), ("", .failure(EROFS)), ("Cache.gen", .noSpace),
    ] {
      let directory = try ScratchFolder()
      let faults = try SystemFaults(below: directory.path)
      let path = faults.folder + "/cache"
      let calls: SystemCalls =
        suffix == "-shm" ? [.write, .truncate, .allocate] : [.write, .allocate, .makeDirectory]
      faults.fail(calls, onFilesEndingIn: suffix, with: fault, times: .max)
      do throws(CacheError) {
        let store = try DiskStore.open(directory: path, capacity: 1 << 24)
        if suffix == "Cache.gen" {
          #expect(!store.sharesGenerations)
        } else {
          await #expect(throws: CacheError.self) { try await store.put(try record("/a"), [1]) }
        }
      } catch {
        #expect([.noSpace, .unavailable, .io].contains(error.code), "\(suffix): \(error)")
      }
      faults.heal()
      let store = try DiskStore.open(directory: path, capacity: 1 << 24)
      #expect(store.openingNotes.isEmpty)
      try await store.put(try record("/b"), [2])
      #expect(try await store.body(key("/b")) == [2])
    }
  }

  @Test("a directory that another user owns is not available")
  func otherUser() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    // Closed: SQLite opens no file anew while a connection of the process has it open.
    await (try DiskStore.open(directory: cache, capacity: 1 << 24)).close()
    let faults = try SystemFaults(below: directory.path)
    for suffix in ["Cache.db", "cache", "bodies"] {
      faults.fail(.open, onFilesEndingIn: suffix, with: .failure(EACCES), times: .max)
      let error = #expect(throws: CacheError.self) {
        try DiskStore.open(directory: faults.folder + "/cache", capacity: 1 << 24)
      }
      #expect(error?.code == .unavailable, "\(suffix)")
      faults.heal()
    }
    #expect(try DiskStore.open(directory: cache, capacity: 1 << 24).openingNotes.isEmpty)
  }

  @Test("while the locks of owners cannot be opened, a body that another process is writing is not deleted")
  func unopenableLocks() async throws {
    let directory = try ScratchFolder()
    let faults = try SystemFaults(below: directory.path)
    let path = faults.folder + "/cache"
    let store = try DiskStore.open(directory: path, capacity: 1 << 26)
    let other = try DiskStore.open(directory: path, capacity: 1 << 26)
    let writer = try await store.write(try record("/a"), variantLimit: 8)
    try await writer.append(BodyBytes(bytes(600_000)))
    let locks = try FileManager.default.contentsOfDirectory(atPath: path + "/writers")
    try #require(!locks.isEmpty)
    for name in ["writers"] + locks {
      faults.fail(.open, onFilesEndingIn: "/" + name, with: .tooManyFiles, times: .max)
      _ = try? await other.verify(repair: true)
      faults.heal()
    }
    try await writer.commit(trailers: [:])
    #expect(try await other.body(key("/a")) == bytes(600_000))
  }

  @Test("a folder that cannot be listed is not empty: a later process deletes the files of dead owners")
  func unlistable() async throws {
    let directory = try ScratchFolder()
    let faults = try SystemFaults(below: directory.path)
    let path = faults.folder + "/cache"
    do {
      let store = try DiskStore.open(directory: path, capacity: 1 << 24)
      // Returns after the background work of opening.
      _ = try await store.verify(repair: false)
      await store.close()
    }
    let body = path + "/bodies/00000000000000ab-1"
    try FileManager.default.createDirectory(
      atPath: path + "/writers", withIntermediateDirectories: true)
    for file in [body, path + "/writers/00000000000000ab"] {
      try Data([1]).write(to: URL(fileURLWithPath: file))
    }
    // The first call opens the folder, and the later calls list it.
    faults.fail(.open, onFilesEndingIn: "/bodies", with: .tooManyFiles, at: 2, times: .max)
    do {
      let store = try DiskStore.open(directory: path, capacity: 1 << 24)
      await #expect(throws: CacheError.self) { _ = try await store.verify(repair: true) }
      await store.close()
    }
    faults.heal()
    #expect(FileManager.default.fileExists(atPath: body))
    let store = try DiskStore.open(directory: path, capacity: 1 << 24)
    try await until { !FileManager.default.fileExists(atPath: body) }
    await store.close()
  }

  @Test("the file of a removed part that cannot be opened now is deleted with the next one")
  func unopenablePartIsDeleted() async throws {
    let directory = try ScratchFolder()
    let faults = try SystemFaults(below: directory.path)
    let path = faults.folder + "/cache"
    let store = try DiskStore.open(directory: path, capacity: 1 << 24)
    let body = bytes(300_000)
    try await store.putPart("/a", body, 0..<100_000)
    let files = try FileManager.default.contentsOfDirectory(atPath: path + "/bodies")
    let file = try #require(files.count == 1 ? files.first : nil)
    try await store.putPart("/b", body, 0..<100_000)
    faults.fail(.open, onFilesEndingIn: file, with: .tooManyFiles, times: .max)
    _ = try await store.remove(.key(key("/a")))
    faults.heal()
    #expect(FileManager.default.fileExists(atPath: path + "/bodies/" + file))
    _ = try await store.remove(.key(key("/b")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/bodies").isEmpty)
    await store.close()
  }

  @Test("a part whose files cannot be opened now keeps its bytes", arguments: ["/body", "/record"])
  func unopenablePart(name: String) throws {
    let directory = try ScratchFolder()
    let faults = try SystemFaults(below: directory.path)
    let file = faults.folder + "/file"
    do {
      let part = try #require(PartFolder.open(beside: file, makes: true).folder)
      try bytes(3).withUnsafeBytes { try part.body.write($0, at: 0) }
      #expect(part.writeRecord([1], isDurable: false) == 0)
    }
    faults.fail(.open, onFilesEndingIn: name, with: .tooManyFiles, times: 2)
    do {
      let (part, code) = PartFolder.open(beside: file, makes: true)
      let found = part?.readRecord().code ?? code
      #expect(found == EMFILE)
    }
    faults.heal()
    let part = try #require(PartFolder.open(beside: file, makes: false).folder)
    #expect(part.status.st_size == 3)
    let record = part.readRecord().bytes
    #expect(record == [1])
  }

  @Test("one read that fails does not cost the index, though SQLite may call it damaged")
  func suspicion() async throws {
    let directory = try ScratchFolder()
    let faults = try SystemFaults(below: directory.path)
    let path = faults.folder + "/cache"
    do {
      let store = try DiskStore.open(directory: path, capacity: 1 << 28)
      for index in 0..<20 {
        try await store.put(try record("/\(index)"), bytes(16_000, seed: UInt64(index + 1)))
      }
    }
    for number in 1...20 {
      let store = try DiskStore.open(directory: path, capacity: 1 << 28)
      try await store.put(try record("/more\(number)"), bytes(9_000))
      faults.fail(.read, with: .inputOutput, at: number)
      _ = try? await store.body(key("/\(number % 20)"))
      _ = try? await store.put(try record("/more\(number)"), bytes(9_000))
      faults.heal()
      await store.flush()
      #expect(store.openingNotes.isEmpty)
      for index in 0..<20 {
        #expect(try await store.body(key("/\(index)")) == bytes(16_000, seed: UInt64(index + 1)))
      }
    }
  }
}
