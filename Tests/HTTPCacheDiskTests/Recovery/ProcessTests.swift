import Foundation
import HTTPCacheDisk
import HTTPCacheFiles
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Several stores on one directory, like the stores of several processes: each has its own connections, locks
/// and mapping.
@Suite(.timeLimit(.minutes(10))) struct ProcessTests {
  @Test("a process sees the changes of another process")
  func shared() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    let stored = try await fixture.store.put(try record("/a"), bytes(300_000))
    #expect(try await other.body(key("/a")) == bytes(300_000))
    #expect(other.secret == fixture.store.secret)
    #expect(other.usage.diskEntries == 1)
    try await other.invalidate(.key(key("/a")))
    #expect(try fixture.store.read(key("/a")).first?.record.response.isInvalidated == true)
    // A process that has not read the invalidation cannot make the entry fresh.
    #expect(try await other.update(stored))
    #expect(try fixture.store.read(key("/a")).first?.record.response.isInvalidated == true)
    var seen = try #require(try other.read(key("/a")).first).record.response
    seen.isInvalidated = false
    let validated = try #require(try other.read(key("/a")).first).record.with(response: seen)
    #expect(try await other.update(validated.with(ticket: other.ticket())))
    #expect(try fixture.store.read(key("/a")).first?.record.response.isInvalidated == false)
    try await other.remove(.all)
    #expect(try fixture.store.read(key("/a")).isEmpty)
  }

  @Test("each change raises the generation of its key in all processes, and of no other key")
  func generations() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    try #require(fixture.store.sharesGenerations)
    // The background work after opening counts as a change of everything; wait until it is done.
    await fixture.store.flush()
    await other.flush()
    // It is chance which keys share a counter; at least one of three others does not.
    let (here, others) = (key("/a"), [key("/b"), key("/c"), key("/d")])
    var last = other.generation(of: here)
    let untouched = others.map { other.generation(of: $0) }
    func expectRise(_ what: String) {
      let now = other.generation(of: here)
      #expect(now.changes > last.changes, "\(what)")
      #expect(now == fixture.store.generation(of: here) || what.isEmpty)
      last = now
    }
    let stored = try await fixture.store.put(try record("/a"), [1])
    expectRise("stored")
    let again = try await fixture.store.put(try record("/a"), [2])
    expectRise("replaced")
    #expect(try await fixture.store.update(stored) == false)
    #expect(other.generation(of: here) == last)
    try await fixture.store.update(again)
    expectRise("freshened")
    try await fixture.store.invalidate(.key(key("/a")))
    expectRise("invalidated")
    try await fixture.store.remove(.key(key("/a")))
    expectRise("removed")
    // The process that removed the entry may have ended before it raised the counters.
    try await fixture.store.remove(.key(key("/a")))
    expectRise("removed again")
    #expect(zip(others, untouched).contains { other.generation(of: $0).changes == $1.changes })
    _ = try fixture.store.read(key("/a"))
    #expect(other.generation(of: here) == last, "reading changes nothing")
    try await fixture.store.put(try record("/a"), [1])
    let before = others.map { other.generation(of: $0) }
    try await fixture.store.remove(.all)
    #expect(zip(others, before).allSatisfy { other.generation(of: $0).changes > $1.changes })
  }

  @Test("of two processes that write one variant the last commit wins, and no file is left over")
  func lastWins() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    let first = try await fixture.store.write(try record("/a"), variantLimit: 8)
    let second = try await other.write(try record("/a"), variantLimit: 8)
    try await first.append(BodyBytes(bytes(400_000, seed: 1)))
    try await second.append(BodyBytes(bytes(400_000, seed: 2)))
    let late = try await second.commit(trailers: [:])
    let later = try await first.commit(trailers: [:])
    #expect(later.sequence > late.sequence)
    #expect(try fixture.store.read(key("/a")).count == 1)
    #expect(try await other.body(key("/a")) == bytes(400_000, seed: 1))
    #expect(try fixture.directory.bodyFiles().count == 1)
    #expect(try await other.verify(repair: false).isSound)
  }

  @Test("a body that a living process is writing is not deleted by the repair of another process")
  func livingWriter() async throws {
    let fixture = try Fixture()
    let other = try fixture.other()
    let writer = try await fixture.store.write(try record("/a"), variantLimit: 8)
    try await writer.append(BodyBytes(bytes(600_000)))
    #expect(try await other.verify(repair: true).isSound)
    #expect(try await fixture.store.verify(repair: true).isSound)
    try await writer.commit(trailers: [:])
    #expect(try await other.body(key("/a")) == bytes(600_000))
  }

  @Test("a lock ends with its file, although a child that is being started has a copy of the descriptor")
  func lockOfChild() throws {
    let directory = try ScratchFolder()
    func folder() throws -> CacheFile { try CacheFile(path: directory.path, flags: CacheFile.folder) }
    var file: CacheFile? = try folder()
    #expect(file?.tryLock() == true)
    let copy = dup(try #require(file?.descriptor))
    defer { close(copy) }
    file = nil
    #expect(try folder().tryLock())
  }

  @Test("a directory copied during writing opens with the complete entries and nothing else")
  func killed() async throws {
    let fixture = try Fixture()
    let cache = fixture.directory.path("cache")
    for index in 0..<8 {
      try await fixture.store.put(try record("/\(index)"), bytes(100_000, seed: UInt64(index + 1)))
    }
    let writer = try await fixture.store.write(try record("/0"), variantLimit: 8)
    try await writer.append(BodyBytes(bytes(700_000, seed: 99)))
    let copy = fixture.directory.path("copy")
    try FileManager.default.copyItem(atPath: cache, toPath: copy)
    try await writer.commit(trailers: [:])

    let store = try DiskStore.open(directory: copy, capacity: 1 << 26, clock: fixture.clock)
    #expect(store.openingNotes.isEmpty)
    for index in 0..<8 {
      #expect(try await store.body(key("/\(index)")) == bytes(100_000, seed: UInt64(index + 1)))
    }
    // No process holds the copied lock, so the unfinished file is deleted in the background.
    try await until {
      try FileManager.default.contentsOfDirectory(atPath: copy + "/bodies").count == 8
    }
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("an index without its log opens with the entries in its file")
  func lostLog() async throws {
    let fixture = try Fixture()
    for index in 0..<20 {
      try await fixture.store.put(try record("/\(index)"), bytes(30_000, seed: UInt64(index + 1)))
    }
    await fixture.store.flush()
    for index in 20..<40 {
      try await fixture.store.put(try record("/\(index)"), bytes(30_000, seed: UInt64(index + 1)))
    }
    for index in 0..<10 { try await fixture.store.remove(.key(key("/\(index)"))) }
    // As after a power loss: bytes that were not synced are lost, here the log with the deleted rows.
    let copy = fixture.directory.path("copy")
    try FileManager.default.copyItem(atPath: fixture.directory.path("cache"), toPath: copy)
    try FileManager.default.removeItem(atPath: copy + "/Cache.db-wal")
    try FileManager.default.removeItem(atPath: copy + "/Cache.db-shm")
    let store = try DiskStore.open(directory: copy, capacity: 1 << 26, clock: fixture.clock)
    for index in 0..<40 {
      let found = (try? await store.body(key("/\(index)"))) ?? nil
      if (10..<20).contains(index) {
        #expect(found == bytes(30_000, seed: UInt64(index + 1)))
      } else {
        #expect(found == nil, "\(index) has no row, or no file")
      }
    }
    _ = try await store.verify(repair: true)
    #expect(try await store.verify(repair: false).isSound)
    #expect(store.usage.diskEntries == 10)
  }

  @Test("a process that is killed while it writes leaves whole bodies and nothing else")
  func killedProcess() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    await #expect(processExitsWith: .signal(SIGKILL)) { [cache = cache as String] in
      let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
      for index in 0..<20 {
        try await store.put(try record("/\(index)"), bytes(100_000, seed: UInt64(index + 1)))
      }
      let writer = try await store.write(try record("/0"), variantLimit: 8)
      try await writer.append(BodyBytes(bytes(700_000, seed: 99)))
      Task.detached {
        for index in 0..<1_000 {
          _ = try? await store.put(try record("/more\(index)"), bytes(20_000))
          if index == 20 { kill(getpid(), SIGKILL) }
        }
      }
      for index in 0..<1_000 {
        _ = try? await store.put(try record("/other\(index)"), bytes(300_000))
      }
    }
    let store = try DiskStore.open(directory: cache, capacity: 1 << 26)
    #expect(store.openingNotes.isEmpty)
    for index in 0..<20 {
      #expect(try await store.body(key("/\(index)")) == bytes(100_000, seed: UInt64(index + 1)))
    }
    for index in 0..<20 {
      #expect(try await store.body(key("/more\(index)")) == bytes(20_000))
    }
    // The locks of dead processes are deleted in the background, after their files.
    try await until {
      try FileManager.default.contentsOfDirectory(atPath: cache + "/writers").isEmpty
    }
    let report = try await store.verify(repair: false)
    #expect(report.isSound, "\(report)")
    #expect(report.entries == (try directory.bodyFiles().count))
  }
}
