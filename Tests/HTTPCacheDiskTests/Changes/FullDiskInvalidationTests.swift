import HTTPCacheDisk
import HTTPCacheFaults
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Testing

/// An entry is invalidated even if the disk is too full to write that (RFC 9111 §4.4).
@Suite(.timeLimit(.minutes(10)), .enabled(if: SystemFaults.isAvailable)) struct FullDiskInvalidationTests {
  private let directory: ScratchFolder
  private let faults: SystemFaults
  private let store: DiskStore

  init() throws {
    directory = try ScratchFolder()
    faults = try SystemFaults(below: directory.path)
    store = try DiskStore.open(directory: faults.folder + "/cache", capacity: 64 << 20)
  }

  @Test(
    "an entry that cannot be invalidated is removed",
    arguments: [
      CacheSelection.key(key("/a")), .target("https://example.com/a"), .prefix("https://example.com/a"),
    ])
  func removed(selection: CacheSelection) async throws {
    for number in 1...6 {
      try await store.put(try record("/a"), bytes(20_000))
      try await store.put(try record("/b"), [1])
      await store.flush()
      // There is no space for a pending use either.
      _ = try store.read(key("/b"))
      faults.fail(.write, onFilesEndingIn: "-wal", with: .noSpace, at: number)
      try await store.invalidate(selection)
      faults.heal()
      let left = try store.read(key("/a"))
      #expect(left.allSatisfy { $0.record.response.isInvalidated })
      #expect(try await store.body(key("/b")) == [1])
    }
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("many entries are invalidated without space for an epoch")
  func many() async throws {
    for index in 0..<300 { try await store.put(try record("/\(index)"), [1]) }
    await store.flush()
    faults.fail(.write, onFilesEndingIn: "-wal", with: .noSpace)
    try await store.invalidate(.prefix("https://example.com/"))
    faults.heal()
    for index in 0..<300 {
      #expect(try store.read(key("/\(index)")).allSatisfy { $0.record.response.isInvalidated })
    }
  }

  @Test("a response that was requested before a failed invalidation is stored as invalidated")
  func onItsWay() async throws {
    try await store.put(try record("/b"), [1])
    await store.flush()
    store.count(CacheCounts(hits: 1))
    let writer = try await store.write(try record("/a"), variantLimit: 8)
    try await writer.append(BodyBytes([1]))
    faults.fail(.write, onFilesEndingIn: "-wal", with: .inputOutput, times: .max)
    await #expect(throws: CacheError.self) { try await store.invalidate(.key(key("/a"))) }
    faults.heal()
    #expect(try await writer.commit(trailers: [:]).response.isInvalidated)
  }
}
