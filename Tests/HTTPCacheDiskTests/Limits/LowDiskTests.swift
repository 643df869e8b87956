import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import Synchronization
import Testing

@testable import HTTPCacheDisk
@testable import HTTPCacheFiles

extension DiskStore {
  /// Opens a store whose file system has a number of free bytes.
  fileprivate static func open(
    directory: String, minimumFreeSpace: Int64, freeBytes: @escaping @Sendable () -> Int64
  ) throws -> DiskStore {
    try open(
      directory: directory,
      changes: DirectorySettings.Changes(capacity: 64 << 20, minimumFreeSpace: minimumFreeSpace),
      largestEntry: .default, options: Options(),
      clock: ManualClock(now: Timestamp(seconds: 1_800_000_000))
    ) { _ in FreeSpace.Space(free: freeBytes(), all: 1 << 40) }
  }
}

/// A file system that fills up.
@Suite(.timeLimit(.minutes(10))) struct LowDiskTests {
  private final class Figures: Sendable {
    let free = Mutex<Int64>(1 << 40)
  }

  private func open(
    _ directory: ScratchFolder, minimum: Int64, _ figures: Figures
  ) throws -> DiskStore {
    try DiskStore.open(
      directory: directory.path("cache"), minimumFreeSpace: minimum,
      freeBytes: { figures.free.withLock { $0 } })
  }

  @Test("below the minimum of free space, responses are evicted, and no more than needed")
  func evicts() async throws {
    let directory = try ScratchFolder()
    let figures = Figures()
    let first = try open(directory, minimum: 100 << 20, figures)
    for index in 0..<60 { try await first.put(try record("/\(index)"), bytes(100_000)) }
    await first.flush()
    let before = first.usage
    let cache = directory.path("cache")
    // Another store has not asked the file system yet.
    let second = try openShortOfSpace(cache)
    try await until { second.usage.diskBytes <= before.diskBytes - 1 << 20 }
    #expect(second.usage.diskEntries >= 45)
  }

  /// Opens a directory on a file system that has 99 MiB free, with a minimum of 100 MiB.
  private func openShortOfSpace(_ cache: String) throws -> DiskStore {
    let taken = DiskMeter.taken(below: cache)
    return try DiskStore.open(
      directory: cache, minimumFreeSpace: 100 << 20,
      freeBytes: { 99 << 20 + taken - DiskMeter.taken(below: cache) })
  }

  @Test("no more small responses are evicted than needed, although their space is free on disk only later")
  func evictsSmall() async throws {
    let directory = try ScratchFolder()
    let first = try open(directory, minimum: 100 << 20, Figures())
    for index in 0..<2_000 { try await first.put(try record("/\(index)"), bytes(3_000)) }
    await first.flush()
    let entries = first.usage.diskEntries
    let cache = directory.path("cache")
    let taken = DiskMeter.taken(below: cache)
    let second = try openShortOfSpace(cache)
    try await until { DiskMeter.taken(below: cache) <= taken - 1 << 20 }
    await second.flush()
    #expect(second.usage.diskEntries >= entries / 2, "\(second.usage.diskEntries) of \(entries)")
    for index in 0..<50 { try await second.put(try record("/later/\(index)"), bytes(3_000)) }
    #expect(second.usage.diskEntries >= entries / 2, "\(second.usage.diskEntries) of \(entries)")
  }

  #if os(Linux)
    @Test(
      "after the disk was full, some space is freed for later responses, and no more",
      .enabled(if: MountedFolder.isAllowed, MountedFolder.needed))
    func afterFullDisk() async throws {
      let directory = try ScratchFolder()
      let place = directory.path("mount")
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      let mounted = try MountedFolder(place, options: "size=24m")
      defer { withExtendedLifetime(mounted) {} }
      let cache = place + "/cache"
      let base = Mutex<Int64>(1 << 40)
      let store = try DiskStore.open(
        directory: cache, minimumFreeSpace: 1 << 20,
        freeBytes: { base.withLock { $0 } - DiskMeter.taken(below: cache) })
      for index in 0..<120 { try await store.put(try record("/\(index)"), bytes(100_000)) }
      await store.flush()
      let before = store.usage
      // The file system seems to have more free space than the minimum, but has none.
      let full = DiskMeter.taken(below: cache) + 2 << 20
      base.withLock { $0 = full }
      let ballast = Foundation.open(place + "/ballast", O_WRONLY | O_CREAT, 0o600)
      let block = bytes(4_096)
      while write(ballast, block, block.count) > 0 {}
      close(ballast)
      await #expect(throws: CacheError.self) {
        try await store.put(try record("/large"), bytes(900_000))
      }
      try await until { store.usage.diskBytes <= before.diskBytes - 2 << 20 }
      await store.flush()
      #expect(store.usage.diskEntries >= before.diskEntries / 3)
    }
  #endif

  @Test("a response that would fill the disk is refused with a reason, after all others were evicted")
  func refuses() async throws {
    let directory = try ScratchFolder()
    let figures = Figures()
    figures.free.withLock { $0 = 0 }
    let store = try open(directory, minimum: 100 << 20, figures)
    let error = await #expect(throws: CacheError.self) {
      try await store.put(try record("/a"), bytes(900_000))
    }
    #expect(error?.code == .noSpace)
    #expect(error?.message.contains("104857600 bytes are to be free") == true, "\(error?.message ?? "")")
    #expect(try directory.bodyFiles().isEmpty || store.usage.diskEntries == 0)
  }

  @Test("a file system with the largest possible number of free bytes overflows nothing")
  func unlimited() async throws {
    let directory = try ScratchFolder()
    let store = try DiskStore.open(
      directory: directory.path("cache"),
      changes: DirectorySettings.Changes(capacity: 64 << 20, minimumFreeSpace: 100 << 20),
      largestEntry: .default, options: DiskStore.Options(),
      clock: ManualClock(now: Timestamp(seconds: 1_800_000_000))
    ) { _ in FreeSpace.Space(free: .max, all: .max) }
    try await store.put(try record("/a"), bytes(900_000))
    #expect(try store.read(key("/a")).count == 1)
  }

  @Test("0 disables the check of free space")
  func off() async throws {
    let directory = try ScratchFolder()
    let figures = Figures()
    figures.free.withLock { $0 = 0 }
    let store = try open(directory, minimum: 0, figures)
    try await store.put(try record("/a"), bytes(900_000))
    #expect(try store.read(key("/a")).count == 1)
  }

  #if os(Linux)
    @Test(
      "on a real full file system, responses are evicted, and responses that do not fit are not stored",
      .enabled(if: getuid() == 0, "only root may mount a file system"))
    func fullFileSystem() async throws {
      let directory = try ScratchFolder()
      let place = directory.path("mount")
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      guard mount("tmpfs", place, "tmpfs", 0, "size=12m") == 0 else {
        withKnownIssue("no file system can be mounted here") { Issue.record("mount failed") }
        return
      }
      defer { umount2(place, Int32(MNT_DETACH)) }
      for minimum in [64 << 10 as Int64, 2 << 20] {
        let store = try DiskStore.open(
          directory: place + "/cache\(minimum)", capacity: 1 << 30, minimumFreeSpace: minimum,
          clock: ManualClock(now: Timestamp(seconds: 1_800_000_000)))
        var stored = 0
        var failed = 0
        for index in 0..<120 {
          _ = try store.read(key("/\(index)"))
          do {
            try await store.put(try record("/\(index)"), bytes(400_000))
            stored += 1
          } catch {
            #expect((error as? CacheError)?.code == .noSpace, "\(error)")
            failed += 1
          }
        }
        #expect(stored >= 40, "stored \(stored), failed \(failed), keeping \(minimum) free")
        await store.flush()
        // Without space for the log, files may have been deleted before their rows.
        _ = try await store.verify(repair: true)
        #expect(try await store.verify(repair: false).isSound)
        if minimum > 1 << 20 {
          var status = statvfs()
          #expect(statvfs(place, &status) == 0)
          #expect(Int64(status.f_bavail) * Int64(status.f_frsize) >= minimum - 512 << 10)
          #expect(failed == 0, "nothing ran into the end of the disk")
        }
        try await store.remove(.all)
      }
    }
  #endif
}
