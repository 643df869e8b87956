import Foundation
@testable import HTTPCacheDisk
@testable import HTTPCacheFiles
import HTTPCacheFaults
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// Each byte on disk counts at each moment, and is written only when there is space for it.
@Suite(.timeLimit(.minutes(10))) struct ExactLimitTests {
  private func bodyBytes(_ fixture: Fixture) throws -> Int64 {
    try fixture.directory.bodyFiles().reduce(0) { sum, name in
      var status = stat()
      guard lstat(fixture.directory.path("cache/bodies/" + name), &status) == 0 else { return sum }
      return sum + Int64(status.st_size)
    }
  }

  @Test("a body that is complete and waits for its row counts")
  func waitingForRow() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    try await store.put(try record("/first"), bytes(300_000))
    let (base, bodies) = (store.usage.diskBytes, try bodyBytes(fixture))
    let held = try HeldDatabase(fixture.database)
    let waiting = try (0..<5).map { index in
      let record = try record("/waiting/\(index)")
      return Task {
        while true {
          do { return try await store.put(record, bytes(100_000)) } catch let error as CacheError
            where error.code == .busy
          {}
        }
      }
    }
    var told: Int64 = 0
    try await until {
      let before = try fixture.directory.bodyFiles()
      told = store.usage.diskBytes - base
      let isComplete = try bodyBytes(fixture) == bodies + 500_000
      return try isComplete && fixture.directory.bodyFiles() == before
    }
    #expect(told >= 500_000)
    held.release()
    for task in waiting { _ = try await task.value }
    await store.flush()
    #expect(abs(store.usage.diskBytes - base - 500_000) <= 256 << 10, "nothing counts twice")
  }

  @Test("bodies of a few blocks or less are not written before there is space for them")
  func roomBeforeWriting() async throws {
    let fixture = try Fixture(capacity: 2 << 20, largestEntry: .bytes(1 << 20))
    let store = fixture.store
    for index in 0..<150 { try await store.put(try record("/\(index)"), bytes(20_000)) }
    for path in ["/small", "/larger"] { for _ in 0..<14 { _ = try store.read(key(path)) } }
    await store.flush()
    let before = try bodyBytes(fixture)
    // Nothing can be evicted meanwhile.
    let held = try HeldDatabase(fixture.database)
    async let small = try? store.put(try record("/small"), bytes(200_000))
    async let larger = try? store.put(try record("/larger"), bytes(250_000))
    let watch = Task {
      var most: Int64 = 0
      while !Task.isCancelled {
        most = max(most, (try? bodyBytes(fixture)) ?? 0)
        await Task.yield()
      }
      return most
    }
    #expect(await small == nil)
    #expect(await larger == nil)
    watch.cancel()
    #expect(await watch.value <= before)
    held.release()
    try await store.put(try record("/small"), bytes(200_000))
    #expect(try store.read(key("/small")).count == 1)
  }

  @Test("files without rows count until they are deleted, and are deleted as soon as possible")
  func deletedLater() async throws {
    let directory = try ScratchFolder()
    let faults = try SystemFaults(below: directory.path)
    let cache = faults.folder + "/cache"
    let capacity: Int64 = 16 << 20
    let store = try DiskStore.open(directory: cache, capacity: capacity)
    func fill(_ round: Int) async throws -> Int {
      var stored = 0
      for index in 0..<100 {
        for _ in 0..<14 { _ = try store.read(key("/\(round)/\(index)")) }
        do {
          try await store.put(try record("/\(round)/\(index)"), bytes(300_000))
          stored += 1
        } catch let error as CacheError { #expect(error.code == .noSpace, "\(error)") }
        #expect(DiskMeter.taken(below: cache) <= capacity + 512 << 10)
      }
      return stored
    }
    #expect(try await fill(0) == 100)
    faults.fail(.unlink, with: .tooManyFiles, times: .max)
    #expect(try await fill(1) < 100)
    faults.heal()
    #expect(try await fill(2) == 100)
    await store.flush()
    #expect(try directory.bodyFiles().count == store.usage.diskEntries)
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("the body of an abandoned writer counts until its file is deleted")
  func givenUp() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    try await store.put(try record("/first"), bytes(300_000))
    let base = store.usage.diskBytes
    let writer = try await store.write(try record("/large"), variantLimit: 8)
    try await writer.append(BodyBytes(bytes(2 << 20)))
    // Keep the index thread, which deletes the file, busy. A test that fails lets it go after a minute.
    let gate = DispatchSemaphore(value: 0)
    store.thread.queue.submit { _ = gate.wait(timeout: .now() + 60) }
    writer.abandon()
    let told = store.usage.diskBytes
    #expect(try bodyBytes(fixture) >= 2 << 20)
    #expect(told - base >= 2 << 20)
    gate.signal()
    await store.flush()
    #expect(try bodyBytes(fixture) == 300_000)
    #expect(abs(store.usage.diskBytes - base) <= 256 << 10)
  }

  @Test("a reserved body that gets its row counts once, so that nothing is evicted needlessly")
  func countedOnce() async throws {
    let fixture = try Fixture(capacity: 16 << 20, largestEntry: .bytes(12 << 20))
    let store = fixture.store
    for index in 0..<6 { try await store.put(try record("/\(index)"), bytes(1 << 20)) }
    try await store.put(try resumable("/resumable", 4 << 20), bytes(4 << 20))
    await store.flush()
    // The body just fits, so that the writer has to ask the index thread.
    let rest = Int(16 << 20 - store.usage.diskBytes) - 200_000
    try await store.put(try record("/large"), bytes(rest))
    #expect(store.usage.diskEntries == 8)
    #expect(try await store.counts().evictions == 0)
  }

  @Test("inserting a row evicts entries that another store has committed meanwhile")
  func otherStoreFilled() async throws {
    let fixture = try Fixture(capacity: 16 << 20, largestEntry: .bytes(8 << 20))
    let other = try DiskStore.open(
      directory: fixture.directory.path("cache"), capacity: 16 << 20, largestEntry: .bytes(8 << 20))
    let (first, second) = (fixture.store, other)
    for _ in 0..<14 { _ = try first.read(key("/large")) }
    let writer = try await first.write(try record("/large"), variantLimit: 8)
    try await writer.append(BodyBytes(bytes(256 << 10)))
    for index in 0..<50 { try await second.put(try record("/\(index)"), bytes(300_000)) }
    for index in 0..<100 { try await second.put(try record("/small/\(index)"), bytes(12_000)) }
    // A writer reserves at most 4 MiB without asking the index thread.
    for _ in 0..<14 { try await writer.append(BodyBytes(bytes(256 << 10))) }
    let taken = DiskMeter.taken(below: fixture.directory.path("cache"))
    let most: Int64 = 16 << 20 + 512 << 10
    #expect(taken <= most + 4 << 20, "\(taken)")
    try await writer.commit(trailers: [:])
    #expect(DiskMeter.taken(below: fixture.directory.path("cache")) <= most)
  }

  @Test("a partial body that is being written is not evicted, since that would free nothing")
  func partInWork() async throws {
    let fixture = try Fixture(capacity: 8 << 20, largestEntry: .bytes(6 << 20))
    let cache = fixture.directory.path("cache")
    let writer = try await fixture.store.write(try resumable("/part", 6 << 20), variantLimit: 8)
    for _ in 0..<12 { try await writer.append(BodyBytes(bytes(256 << 10))) }
    // Evict in another store, which has to ask whether a writer has the file.
    let other = try DiskStore.open(
      directory: cache, capacity: 8 << 20, largestEntry: .bytes(6 << 20), clock: fixture.clock)
    for index in 0..<60 {
      for _ in 0..<6 { _ = try other.read(key("/\(index)")) }
      try await (index % 2 == 0 ? other : fixture.store).put(try record("/\(index)"), bytes(200_000))
    }
    #expect(try fixture.number("SELECT count(*) FROM entry WHERE partial = 1") == 1)
    #expect(DiskMeter.taken(below: cache) <= 8 << 20 + 512 << 10)
    #expect(try await writer.keep()?.storedRanges == [0..<3 << 20])
    // From now on the partial body is evicted like any other.
    for index in 100..<160 {
      for _ in 0..<6 { _ = try other.read(key("/\(index)")) }
      try await other.put(try record("/\(index)"), bytes(200_000))
    }
    #expect(try fixture.number("SELECT count(*) FROM entry WHERE partial = 1") == 0)
  }

  @Test("the space of removed rows is free for bodies")
  func spaceOfRows() async throws {
    let fixture = try Fixture(capacity: 16 << 20, largestEntry: .bytes(8 << 20))
    for index in 0..<1_000 { try await fixture.store.put(try record("/\(index)"), bytes(10_000)) }
    #expect(try await fixture.store.remove(.prefix("https://example.com/")) == 1_000)
    let writer = try await fixture.store.write(try record("/large"), variantLimit: 8)
    for _ in 0..<31 { try await writer.append(BodyBytes(bytes(256 << 10))) }
    #expect(DiskMeter.taken(below: fixture.directory.path("cache")) <= 16 << 20 + 512 << 10)
    try await writer.commit(trailers: [:])
    #expect(fixture.store.usage.diskEntries == 1)
  }

  @Test("removing everything does not fill the log, and leaves no byte")
  func removeAll() async throws {
    let fixture = try Fixture()
    let cache = fixture.directory.path("cache")
    let text = "somebody-5d1c"
    for index in 0..<1_200 {
      try await fixture.store.put(
        try record("/\(text)/\(index)", groups: [text]),
        Array(String(repeating: text + " ", count: 600).utf8))
    }
    await fixture.store.flush()
    let holder = try LogHolder(fixture.database)
    // No checkpoint is possible while a process reads an old state, so the log has all that was written.
    #expect(try await fixture.store.remove(.all) == 1_200)
    let log = try FileManager.default.attributesOfItem(atPath: cache + "/Cache.db-wal")[.size] as? Int64
    #expect(try #require(log) <= 1 << 20)
    holder.letGo()
    #expect(try await fixture.store.remove(.all) == 0)
    #expect(DiskMeter.files(below: cache, containing: text) == [])
    #expect(DiskMeter.taken(below: cache) <= 512 << 10)
    #expect(try await fixture.store.verify(repair: false).isSound)
    // Rows that are deleted later are overwritten again.
    try await fixture.store.put(try record("/\(text)"), Array(text.utf8))
    try await fixture.store.wipe(mode: .private, partition: "")
    #expect(DiskMeter.files(below: cache, containing: text) == [])
  }

  @Test("a smaller capacity is reached although another process held the index at first")
  func trimmedLater() async throws {
    let fixture = try Fixture()
    for index in 0..<40 { try await fixture.store.put(try record("/\(index)"), bytes(90_000)) }
    await fixture.store.flush()
    let held = try HeldDatabase(fixture.database)
    let small = try DiskStore.open(
      directory: fixture.directory.path("cache"), capacity: 1 << 20, clock: fixture.clock)
    // This is done after the first try.
    small.count(CacheCounts(hits: 1))
    await #expect(throws: CacheError.self) { try await small.counts() }
    #expect(small.usage.diskBytes > 2 << 20)
    held.release()
    try await until {
      fixture.clock.advance(by: 1)
      return small.usage.diskBytes <= 1 << 20
    }
  }
}
