import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

#if os(Linux)
  /// Directories without write permission, on real file systems and for a real other user.
  @Suite(.timeLimit(.minutes(10)), .serialized) struct ForeignDirectoryTests {
    /// Fills a directory with some responses, and closes it.
    private func fill(_ cache: String) async throws {
      let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
      for index in 0..<6 { try await store.put(try record("/\(index)"), bytes(index * 12_000)) }
      await store.flush()
    }

    /// Fills a directory with some responses, closes it, and waits until the log and the owner lock are deleted.
    private func fillAndClose(_ cache: String) async throws {
      try await fill(cache)
      try await until {
        try !FileManager.default.fileExists(atPath: cache + "/Cache.db-wal")
          && FileManager.default.contentsOfDirectory(atPath: cache + "/writers").isEmpty
      }
    }

    private func expectWhole(_ cache: String) async throws {
      let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
      #expect(store.openingNotes.isEmpty)
      for index in 0..<6 { #expect(try await store.body(key("/\(index)")) == bytes(index * 12_000)) }
      #expect(try await store.verify(repair: false).isSound)
    }

    @Test(
      "a directory on a read-only file system is unavailable, and nothing in it is changed",
      .enabled(if: MountedFolder.isAllowed, MountedFolder.needed))
    func readOnly() async throws {
      let directory = try ScratchFolder()
      let cache = directory.path("cache")
      let mounted = directory.path("mounted")
      try FileManager.default.createDirectory(atPath: mounted, withIntermediateDirectories: false)
      try FileManager.default.createDirectory(
        atPath: directory.path("empty"), withIntermediateDirectories: false)
      try await fillAndClose(cache)
      let before = try snapshot(cache)
      for folder in [cache, directory.path("empty")] {
        let mount = try MountedFolder(readOnly: folder, at: mounted)
        for path in [mounted, mounted + "/below"] {
          let error = #expect(throws: CacheError.self, "\(path)") {
            try DiskStore.open(directory: path, capacity: 1 << 26)
          }
          #expect(error?.code == .unavailable, "\(path)")
        }
        withExtendedLifetime(mount) {}
      }
      #expect(try snapshot(cache) == before)
      try await expectWhole(cache)
    }

    @Test(
      "a file system of 1 MiB stores as much as fits; the rest fails, and a full disk breaks nothing",
      .enabled(if: MountedFolder.isAllowed, MountedFolder.needed))
    func full() async throws {
      let directory = try ScratchFolder()
      let mount = try MountedFolder(directory.path, options: "size=1m")
      let cache = directory.path("cache")
      try Data(count: 200_000).write(to: URL(fileURLWithPath: directory.path("somebody else's")))
      var stored: Set<Int> = []
      do {
        let store = try DiskStore.open(directory: cache, capacity: 1 << 26, minimumFreeSpace: 0)
        for index in 0..<60 {
          do throws(CacheError) {
            let size = [300, 9_000, 40_000, 300_000][index % 4]
            let writer = try await store.write(try record(index), variantLimit: 8)
            try await writer.append(BodyBytes(bytes(size, seed: UInt64(index + 1))))
            try await writer.commit(trailers: [:])
            stored.insert(index)
          } catch {
            #expect([.noSpace, .io].contains(error.code), "\(error)")
          }
        }
        #expect(!stored.isEmpty && stored.count < 60)
        try await expect(stored, in: store)
        // No byte is free now; the same store continues.
        fillUp(directory.path("zeros"))
        await #expect(throws: CacheError.self) { try await store.put(try record("/x"), bytes(30_000)) }
        try await expect(stored, in: store)
        #expect(store.openingNotes.isEmpty)
      }
      // No byte is free for a log either, which opening needs.
      fillUp(directory.path("more"))
      for path in [cache, directory.path("other")] {
        do throws(CacheError) {
          let store = try DiskStore.open(directory: path, capacity: 1 << 26, minimumFreeSpace: 0)
          #expect(store.openingNotes.allSatisfy { !$0.contains("damaged") }, "\(store.openingNotes)")
          if path == cache { try await expect(stored, in: store) }
        } catch {
          #expect([.noSpace, .unavailable, .io].contains(error.code), "\(error)")
        }
      }
      for name in ["zeros", "more", "somebody else's"] {
        try FileManager.default.removeItem(atPath: directory.path(name))
      }
      let store = try DiskStore.open(directory: cache, capacity: 1 << 26, minimumFreeSpace: 0)
      #expect(store.openingNotes.isEmpty)
      try await expect(stored, in: store)
      // Entries can be removed, although removing needs some space.
      fillUp(directory.path("zeros"))
      let file = try #require(stored.first { $0 % 4 == 3 })
      #expect(try await store.remove(.key(key("/\(file)"))) == 1)
      #expect(try await store.remove(.all) == stored.count - 1)
      #expect(try directory.bodyFiles().isEmpty)
      try await store.put(try record("/after"), bytes(30_000))
      #expect(try await store.body(key("/after")) == bytes(30_000))
      let report = try await store.verify(repair: true)
      #expect(report.isSound || report.isRepaired, "\(report)")
      #expect(try await store.verify(repair: false).isSound)
      withExtendedLifetime(mount) {}
    }

    // Root in a separate user namespace may have no other users.
    private static let canBecomeAnotherUser: Bool = {
      guard geteuid() == 0 else { return false }
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
      process.arguments = ["--reuid=65534", "--regid=65534", "--clear-groups", "/bin/true"]
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }()

    private func record(_ index: Int) throws(CacheError) -> CacheRecord {
      do { return try HTTPCacheDiskTests.record("/\(index)") } catch {
        throw CacheError(.invalidRequest, "\(error)")
      }
    }

    private func record(_ path: String) throws -> CacheRecord { try HTTPCacheDiskTests.record(path) }

    private func expect(_ stored: Set<Int>, in store: DiskStore) async throws(CacheError) {
      for index in stored {
        let size = [300, 9_000, 40_000, 300_000][index % 4]
        guard let reader = try store.read(key("/\(index)")).first?.body.open() else {
          Issue.record("\(index) is missing")
          continue
        }
        #expect(try await reader.read(0..<Int64(size)).array == bytes(size, seed: UInt64(index + 1)))
      }
    }

    /// Fills the file system to the last byte, in smaller and smaller pieces.
    private func fillUp(_ path: String) {
      let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
      guard descriptor >= 0 else { return }
      let zeros = [UInt8](repeating: 0, count: 65_536)
      for size in [65_536, 4_096, 1] { while write(descriptor, zeros, size) > 0 {} }
      close(descriptor)
    }

    @Test(
      "a directory of another user is unavailable, whatever its modes, and stays unchanged",
      .enabled(if: Self.canBecomeAnotherUser, "needs root that may become another user"),
      arguments: [0o700, 0o755, 0o777])
    func otherUser(mode: Int) async throws {
      let directory = try ScratchFolder()
      let cache = directory.path("cache")
      try await fillAndClose(cache)
      chmod(directory.path, 0o755)
      chmod(cache, mode_t(mode))
      if mode == 0o755 { for name in ["Cache.db", "Cache.gen"] { chmod(cache + "/" + name, 0o644) } }
      let before = try snapshot(cache)
      await #expect(processExitsWith: .success) { [cache = cache as String] in
        try #require(setgroups(0, nil) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
        for path in [cache, cache + "/below"] where access(cache, W_OK) != 0 || path == cache {
          let error = #expect(throws: CacheError.self) {
            try DiskStore.open(directory: path, capacity: 1 << 26)
          }
          #expect(error?.code == .unavailable)
        }
      }
      #expect(try snapshot(cache) == before)
      chmod(cache, 0o700)
      for name in ["Cache.db", "Cache.gen"] { chmod(cache + "/" + name, 0o600) }
      try await expectWhole(cache)
    }
  }
#endif
