import CSQLite
import Foundation
import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Testing

/// Removed bytes are in no file afterwards, and other entries stay, whichever system call fails meanwhile.
@Suite(.timeLimit(.minutes(10)), .enabled(if: SystemFaults.isAvailable)) struct RemovalFaultTests {
  private static let text = "somebody-9c3e"
  private let directory: ScratchFolder
  private let faults: SystemFaults

  init() throws {
    directory = try ScratchFolder()
    faults = try SystemFaults(below: directory.path)
  }

  private var cache: String { faults.folder + "/cache" }

  private func open() throws -> DiskStore { try DiskStore.open(directory: cache, capacity: 64 << 20) }

  private func body(_ count: Int) -> [UInt8] {
    Array(String(repeating: Self.text + " ", count: count / (Self.text.utf8.count + 1)).utf8)
  }

  private func fill(_ store: DiskStore, count: Int = 40) async throws {
    for index in 0..<count {
      try await store.put(try record("/\(Self.text)/\(index)", groups: [Self.text]), body(9_000))
    }
    await store.flush()
  }

  private func sealedKey(_ index: Int) -> CacheKey {
    CacheKey(mode: .private, target: "sealed-9c3e-\(index)")
  }

  private func fillSealed(_ store: DiskStore, count: Int) async throws {
    for index in 0..<count {
      let record = CacheRecord(key: sealedKey(index), response: try record("/").response)
      try await store.put(record, bytes(14_000, seed: UInt64(index)))
    }
    await store.flush()
  }

  private func removed(_ folder: String) -> [String] { DiskMeter.files(below: folder, containing: Self.text) }

  private func setAside() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: cache).filter { $0.contains("damaged") }
  }

  // The system calls with which SQLite writes: each fails once, or each fails with all later ones.
  private static let failures: [(suffix: String, fault: SystemFault, times: Int)] = [
    ("-wal", .noSpace, 1), ("-wal", .inputOutput, 1), ("-wal", .inputOutput, .max), ("Cache.db", .noSpace, 1),
    ("Cache.db", .inputOutput, .max),
  ]

  @Test("all entries are removed, or all stay and can be removed later", arguments: failures)
  func all(suffix: String, fault: SystemFault, times: Int) async throws {
    let store = try open()
    var (failed, removed) = (0, 0)
    for number in Array(1...12) + [50, 100, 200] {
      try await fill(store)
      faults.fail(
        [.write, .truncate], onFilesEndingIn: suffix, with: fault, at: number, times: times)
      do {
        #expect(try await store.remove(.all) == 40)
        removed += 1
      } catch {
        failed += 1
        for index in 0..<40 {
          #expect(try await store.body(key("/\(Self.text)/\(index)")) == body(9_000))
        }
      }
      faults.heal()
      #expect(
        try store.read(key("/\(Self.text)/0")).isEmpty == (try store.read(key("/\(Self.text)/39")).isEmpty))
      #expect(try await store.remove(.all) >= 0)
      #expect(self.removed(cache) == [])
      #expect(store.usage.diskEntries == 0)
    }
    #expect(removed > 0)
    // On a full disk the store tries again once there is space.
    if suffix == "-wal", fault == .inputOutput { #expect(failed > 0) }
    #expect(store.openingNotes.isEmpty)
    #expect(try setAside() == [])
    #expect(try number("PRAGMA auto_vacuum", on: cache + "/Cache.db") == 1)
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("an index that could not shrink does so when the directory is opened next")
  func shorterLater() async throws {
    do {
      let store = try open()
      try await fill(store, count: 300)
      faults.fail([.write, .truncate], onFilesEndingIn: "Cache.db", with: .inputOutput, times: .max)
      #expect(try await store.remove(.all) == 300)
      #expect(!removed(cache).isEmpty)
      // A copy of the state in which a killed process would leave the directory.
      try FileManager.default.copyItem(atPath: cache, toPath: faults.folder + "/killed")
      faults.heal()
    }
    let killed = faults.folder + "/killed"
    #expect(!removed(killed).isEmpty)
    let store = try DiskStore.open(directory: killed, capacity: 64 << 20)
    try await until { removed(killed).isEmpty }
    #expect(try number("PRAGMA auto_vacuum", on: killed + "/Cache.db") == 1)
    #expect(store.usage.diskEntries == 0)
    #expect(DiskMeter.taken(below: killed) < 1 << 20)
  }

  @Test(
    "plain entries are removed, sealed entries stay, and nothing counts as damage", arguments: failures)
  func plain(suffix: String, fault: SystemFault, times: Int) async throws {
    let store = try open()
    try await fillSealed(store, count: 20)
    for number in 1...20 {
      try await fill(store)
      try store.mayStorePlain()
      faults.fail(
        [.write, .truncate], onFilesEndingIn: suffix, with: fault, at: number, times: times)
      let isDone = (try? store.removePlain()) != nil
      faults.heal()
      if isDone { #expect(removed(cache) == [], "\(number)") }
      _ = try store.removePlain()
      #expect(removed(cache) == [])
      for index in 0..<20 {
        #expect(try await store.body(sealedKey(index)) == bytes(14_000, seed: UInt64(index)))
      }
    }
    #expect(store.openingNotes.isEmpty)
    #expect(try setAside() == [])
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("nothing of the index is written to temporary files", arguments: [200, 600])
  func temporaryFiles(count: Int) async throws {
    let temporary = try ScratchFolder()
    let watch = try SystemFaults(below: temporary.path, recordsChanges: true)
    // From now on SQLite looks in this folder first; after its removal, in the previous places.
    try execute("PRAGMA temp_store_directory = '\(temporary.path)'", on: faults.folder + "/other.db")
    let store = try open()
    try await fillSealed(store, count: count)
    try await fill(store)
    #expect(try store.removePlain() == 40)
    try await fill(store, count: 300)
    #expect(try await store.remove(.all) == 300 + count)
    // Other tests may have written temporary files there.
    let isThere = watch.changes.contains { change in
      if case .written(_, _, let bytes) = change {
        Data(bytes).range(of: Data("9c3e".utf8)) != nil
      } else {
        false
      }
    }
    #expect(!isThere)
    #expect(removed(cache) == [])
  }
}
