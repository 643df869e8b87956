import Foundation
import HTTPCacheDisk
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// The capacity holds while bodies are being written.
@Suite(.timeLimit(.minutes(10))) struct RoomTests {
  @Test(
    "three processes exceed the capacity at most by the bodies that two of them write, and a log each")
  func severalProcesses() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    let capacity: Int64 = 16 << 20
    let done = Counter()
    async let first: ExitTest.Result? = #expect(processExitsWith: .success) { [cache = cache as String] in
      try await fill(cache, from: 0)
    }
    async let second: ExitTest.Result? = #expect(processExitsWith: .success) { [cache = cache as String] in
      try await fill(cache, from: 1_000)
    }
    async let third: ExitTest.Result? = #expect(processExitsWith: .success) { [cache = cache as String] in
      try await fill(cache, from: 2_000)
    }
    let watch = Task {
      var most: Int64 = 0
      while !Task.isCancelled {
        most = max(most, DiskMeter.taken(below: cache))
        done.increment()
        await Task.yield()
      }
      return most
    }
    _ = await (first, second, third)
    watch.cancel()
    let most = await watch.value
    // Decision 27: two other processes with three bodies each of up to 2.6 MB, and three times the log's limit.
    let bound = capacity + 2 * 3 * 2_600_000 + 3 * 4 << 20
    #expect(most <= bound, "\(most) bytes of \(bound), \(done.value) looks")
    #expect(most > capacity / 2, "the cache was never full")
    let store = try DiskStore.open(directory: cache, capacity: capacity)
    await store.flush()
    let taken = DiskMeter.taken(below: cache)
    #expect(abs(store.usage.diskBytes - taken) <= 64 << 10, "\(store.usage.diskBytes), taken \(taken)")
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("a body that is being written counts and evicts entries until its writer ends")
  func reservation() async throws {
    let fixture = try Fixture(capacity: 16 << 20, largestEntry: .bytes(8 << 20))
    let store = fixture.store
    for index in 0..<40 { try await store.put(try record("/\(index)"), bytes(300_000)) }
    let before = store.usage
    for _ in 0..<14 { _ = try store.read(key("/large")) }
    let writer = try await store.write(try record("/large"), variantLimit: 8)
    for _ in 0..<20 { try await writer.append(BodyBytes(bytes(256 << 10))) }
    #expect(store.usage.diskBytes >= 5 << 20)
    #expect(store.usage.diskBytes <= 16 << 20)
    #expect(store.usage.diskEntries < before.diskEntries, "evicted before the body is whole")
    #expect(DiskMeter.taken(below: fixture.directory.path("cache")) <= 17 << 20)
    let withWriter = store.usage.diskBytes
    writer.abandon()
    // Another thread deletes the file.
    await store.flush()
    #expect(store.usage.diskBytes <= withWriter - 5 << 20)
  }

  @Test(
    "the excess by a body that another store writes is at most its bytes, and ends with its commit")
  func otherStore() async throws {
    let capacity: Int64 = 16 << 20
    let fixture = try Fixture(capacity: capacity, largestEntry: .bytes(8 << 20))
    let cache = fixture.directory.path("cache")
    let other = try DiskStore.open(directory: cache, capacity: capacity, largestEntry: .bytes(8 << 20))
    for _ in 0..<14 { _ = try fixture.store.read(key("/large")) }
    let writer = try await fixture.store.write(try record("/large"), variantLimit: 8)
    for _ in 0..<12 { try await writer.append(BodyBytes(bytes(256 << 10))) }
    for index in 0..<60 { try await other.put(try record("/\(index)"), bytes(300_000)) }
    let most = DiskMeter.taken(below: cache)
    #expect(most > capacity, "the other store does not see the reservation")
    #expect(most <= capacity + 3 << 20 + 4 << 20)
    // From here on the first store sees the rows of the other store, and evicts for its own body.
    for _ in 0..<12 { try await writer.append(BodyBytes(bytes(256 << 10))) }
    try await writer.commit(trailers: [:])
    #expect(try fixture.store.read(key("/large")).count == 1)
    #expect(DiskMeter.taken(below: cache) <= capacity + 512 << 10)
  }

  @Test("a growing body that is worth less than the entries to evict is refused, and evicts nothing")
  func refusedEarly() async throws {
    let fixture = try Fixture(capacity: 8 << 20, largestEntry: .bytes(6 << 20))
    for index in 0..<40 {
      for _ in 0..<12 { _ = try fixture.store.read(key("/\(index)")) }
      try await fixture.store.put(try record("/\(index)"), bytes(150_000))
      for _ in 0..<4 { _ = try fixture.store.read(key("/\(index)")) }
    }
    await fixture.store.flush()
    let before = fixture.store.usage.diskEntries
    _ = try fixture.store.read(key("/large"))
    let error = await #expect(throws: CacheError.self) {
      try await fixture.store.put(try record("/large", bodyLength: 5 << 20), bytes(5 << 20))
    }
    #expect(error?.code == .notAdmitted)
    #expect(fixture.store.usage.diskEntries == before)
  }

  @Test("the usage is exact to a block for each file after storing, partial bodies, evictions and a kill")
  func usageIsExact() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    await #expect(processExitsWith: .signal(SIGKILL)) { [cache = cache as String] in
      let store = try DiskStore.open(directory: cache, capacity: 24 << 20, largestEntry: .bytes(8 << 20))
      for index in 0..<60 {
        _ = try? await store.put(
          try record("/\(index)"), bytes([900, 30_000, 500_000][index % 3], seed: UInt64(index + 1)))
      }
      let part = try await store.write(try resumable("/part", 6_000_000), variantLimit: 8)
      for _ in 0..<15 { try await part.append(BodyBytes(bytes(256 << 10))) }
      let whole = try await store.write(try record("/whole"), variantLimit: 8)
      for _ in 0..<5 { try await whole.append(BodyBytes(bytes(256 << 10))) }
      kill(getpid(), SIGKILL)
    }
    let store = try DiskStore.open(directory: cache, capacity: 24 << 20)
    // The files of the dead process are deleted in the background.
    try await until {
      try FileManager.default.contentsOfDirectory(atPath: cache + "/writers").isEmpty
    }
    func expectExact(_ when: String) async throws {
      await store.flush()
      let (told, taken) = (store.usage.diskBytes, DiskMeter.taken(below: cache))
      let files = try FileManager.default.subpathsOfDirectory(atPath: cache).count
      #expect(abs(told - taken) <= Int64(files) * 4_096, "\(when): told \(told), taken \(taken)")
    }
    try await expectExact("after a kill")
    try await store.setCapacity(memory: nil, disk: 6 << 20)
    #expect(DiskMeter.taken(below: cache) <= 6 << 20)
    try await expectExact("after evictions")
    try await store.remove(.all)
    try await expectExact("after all was removed")
  }

  @Test("the log stays small while a process reads an old state, and nothing is stored meanwhile")
  func boundedLog() async throws {
    let fixture = try Fixture()
    let log = fixture.directory.path("cache/Cache.db-wal")
    try await fixture.store.put(try record("/first"), [1])
    let holder = try LogHolder(fixture.database)
    var refused: CacheError?
    for index in 0..<2_000 where refused == nil {
      do { try await fixture.store.put(try record("/\(index)"), bytes(8_000)) } catch {
        refused = error as? CacheError
      }
    }
    #expect(refused?.code == .busy)
    #expect(try size(of: log) <= 6 << 20)
    #expect(try fixture.store.read(key("/first")).count == 1)
    holder.letGo()
    try await fixture.store.put(try record("/later"), [1])
    #expect(try size(of: log) <= 4 << 20)
  }

  @Test(
    "while a process reads an old state, evicting neither grows the log without end nor removes all")
  func boundedLogOfEvictions() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    let log = fixture.directory.path("cache/Cache.db-wal")
    for index in 0..<1_500 { try await store.put(try record("/\(index)"), bytes(8_000)) }
    await store.flush()
    let holder = try LogHolder(fixture.database)
    let error = await #expect(throws: CacheError.self) {
      try await store.setCapacity(memory: nil, disk: 8 << 20)
    }
    #expect(error?.code == .busy)
    #expect(try size(of: log) <= 7 << 20)
    #expect(store.usage.diskEntries > 0)
    holder.letGo()
    try await store.setCapacity(memory: nil, disk: 8 << 20)
    #expect(try size(of: log) <= 4 << 20)
    #expect(store.usage.diskBytes <= 8 << 20)
  }

  @Test("a capacity below the usage evicts on opening, and the files shrink")
  func smallerOnOpening() async throws {
    let fixture = try Fixture()
    let cache = fixture.directory.path("cache")
    for index in 0..<400 { try await fixture.store.put(try record("/\(index)"), bytes(9_000)) }
    for index in 0..<40 { try await fixture.store.put(try record("/f\(index)"), bytes(90_000)) }
    await fixture.store.flush()
    #expect(DiskMeter.taken(below: cache) > 6 << 20)
    let small = try DiskStore.open(directory: cache, capacity: 1 << 20)
    #expect(small.noRoomNote == nil)
    try await small.setCapacity(memory: nil, disk: 1 << 20)
    #expect(DiskMeter.taken(below: cache) <= 1 << 20)
    #expect(small.usage.diskEntries > 5)
    try await small.put(try record("/new"), bytes(9_000))
    #expect(try small.read(key("/new")).count == 1)
  }

  @Test("a capacity that an empty index fills is reported, evicts everything, and refuses with that reason")
  func nothingFits() async throws {
    let fixture = try Fixture()
    let cache = fixture.directory.path("cache")
    for index in 0..<40 { try await fixture.store.put(try record("/\(index)"), bytes(90_000)) }
    let tiny = try DiskStore.open(directory: cache, capacity: 100_000)
    let note = try #require(tiny.noRoomNote)
    #expect(note.contains("the capacity is 100000"))
    try await until { tiny.usage.diskEntries == 0 }
    let error = await #expect(throws: CacheError.self) { try await tiny.put(try record("/a"), [1]) }
    #expect(error?.code == .noSpace)
    #expect(error?.message == note)
  }

  @Test("if pinned entries fill the capacity, none is evicted, and responses that do not fit are refused")
  func allPinned() async throws {
    let fixture = try Fixture(capacity: 4 << 20, largestEntry: .bytes(2 << 20))
    var stored = 0
    for index in 0..<60 {
      let body = bytes(100_000, seed: UInt64(index + 1))
      do {
        try await fixture.store.put(try record("/\(index)", isPinned: true), body)
        stored += 1
      } catch {
        #expect((error as? CacheError)?.code == .noSpace)
        break
      }
    }
    #expect(stored > 20 && stored < 60)
    #expect(fixture.store.usage.diskBytes <= 4 << 20)
    for size in [100_000, 1_500_000] {
      await #expect(throws: CacheError.self) {
        for index in 0..<100 {
          try await fixture.store.put(try record("/x\(index)", isPinned: true), bytes(size))
        }
      }
    }
    for index in 0..<stored { #expect(try fixture.store.read(key("/\(index)")).count == 1) }
    try await fixture.store.setCapacity(memory: nil, disk: 1 << 20)
    for index in 0..<stored { #expect(try fixture.store.read(key("/\(index)")).count == 1) }
  }

  private func size(of path: String) throws -> Int64 {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0
  }
}

/// Writes several large bodies at a time, as one of several processes does.
func fill(_ cache: String, from first: Int) async throws {
  var opened: DiskStore?
  // Opening waits for at most 2 s for another process that opens the directory.
  try await until {
    do throws(CacheError) {
      opened = try DiskStore.open(directory: cache, capacity: 16 << 20, largestEntry: .bytes(4 << 20))
    } catch {
      guard error.code == .busy else { throw error }
    }
    return opened != nil
  }
  let store = try #require(opened)
  await withTaskGroup(of: Void.self) { group in
    for lane in 0..<3 {
      group.addTask {
        for step in 0..<25 {
          let number = first + 100 * lane + step
          _ = try? store.read(key("/\(number)"))
          _ = try? await store.put(
            try step % 2 == 0 ? record("/\(number)") : resumable("/\(number)", nil),
            bytes([1_500_000, 40_000, 2_600_000, 6_000][step % 4]))
        }
      }
    }
  }
  await store.flush()
}
