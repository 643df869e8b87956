import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCacheTesting
import HTTPTypes
import Synchronization
import Testing

@testable import HTTPCacheDisk
@testable import HTTPCacheFiles

/// Wiping a partition leaves no byte of it.
@Suite(.timeLimit(.minutes(10))) struct WipeTests {
  private let account = "account-7f3a-of-somebody"

  private func body(_ size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < size { bytes += Array("\(account) ".utf8) }
    return Array(bytes[..<size])
  }

  @Test("no file has a byte of the account, other accounts keep theirs, and the usage is correct")
  func wipe() async throws {
    let fixture = try Fixture()
    let cache = fixture.directory.path("cache")
    let store = fixture.store
    for index in 0..<200 {
      let path = "/\(account)/\(index)"
      // Store each path twice, so that entries are replaced before.
      for size in [[100, 3_000, 12_000, 40_000][index % 4], [300, 9_000][index % 2]] {
        try await store.put(
          try record(path, partition: account, language: account, groups: [account]), body(size))
      }
      try await store.put(try record("/other/\(index)", partition: "b"), bytes(5_000))
      if index % 5 == 0 { try await store.remove(.key(key(path, partition: account))) }
    }
    let wanted = key("/\(account)/part", partition: account)
    let part = try await store.write(
      try record("/\(account)/part", partition: account, storedRanges: [0..<300_000]), variantLimit: 8)
    try await part.append(BodyBytes(body(300_000)))
    try await part.commit(trailers: [:])
    #expect(try store.read(wanted).count == 1)
    store.note(
      RefusalNote(
        key: wanted, time: Timestamp(seconds: 1), status: 200,
        explanation: CacheExplanation.refusal(.malformed(account))))
    await store.flush()
    try await store.invalidate(.partition(mode: .private, account))
    #expect(!DiskMeter.files(below: cache, containing: account).isEmpty)
    #expect(try await store.wipe(mode: .private, partition: account) == 161)
    #expect(DiskMeter.files(below: cache, containing: account) == [])
    #expect(try store.read(wanted).isEmpty)
    #expect(try store.refusals(of: wanted).isEmpty)
    #expect(store.usage.diskEntries == 200)
    #expect(try store.read(key("/other/7", partition: "b")).count == 1)
    #expect(try await store.verify(repair: false).isSound)
  }

  @Test("bodies of abandoned writers and of killed processes are removed as well")
  func leftovers() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    let store = try DiskStore.open(directory: cache, capacity: 64 << 20)
    try await store.reader.fileQueue.run { () throws(CacheError) in }
    await #expect(processExitsWith: .signal(SIGKILL)) { [cache = cache as String] in
      let store = try DiskStore.open(directory: cache, capacity: 64 << 20)
      let tests = WipeTests()
      let writer = try await store.write(try record("/a", partition: tests.account), variantLimit: 8)
      try await writer.append(BodyBytes(tests.body(900_000)))
      kill(getpid(), SIGKILL)
    }
    #expect(!DiskMeter.files(below: cache, containing: account).isEmpty)
    let writer = try await store.write(try record("/b", partition: account), variantLimit: 8)
    try await writer.append(BodyBytes(body(900_000)))
    writer.abandon()
    #expect(try await store.wipe(mode: .private, partition: account) == 0)
    #expect(DiskMeter.files(below: cache, containing: account) == [])
  }

  @Test("wiping reports that a reader of an old state keeps the log")
  func heldLog() async throws {
    let directory = try ScratchFolder()
    let store = try DiskStore.open(
      directory: directory.path("cache"), capacity: 64 << 20, clock: LookClock(step: .seconds(10)))
    try await store.put(try record("/a", partition: account), [1])
    let holder = try LogHolder(directory.path("cache/Cache.db"))
    let error = await #expect(throws: CacheError.self) {
      try await store.wipe(mode: .private, partition: account)
    }
    #expect(error?.code == .busy)
    #expect(try store.read(key("/a", partition: account)).isEmpty)
    holder.letGo()
    #expect(try await store.wipe(mode: .private, partition: account) == 0)
  }

  @Test("the log is emptied although another process makes a checkpoint at the time")
  func otherCheckpoint() async throws {
    let fixture = try Fixture()
    let path = fixture.database
    try await fixture.store.put(try record("/a", partition: account), [1])
    let holder = try LogHolder(path)
    try await fixture.store.put(try record("/b", partition: account), [1])
    let checkpoint = WaitingCheckpoint(path)
    try await until { WaitingCheckpoint.isUnderWay(path) }
    let store = fixture.store
    let clock = LookClock(step: .zero)
    let emptying = Task.detached { try store.thread.currentDirectory.emptyLog(clock) }
    // One look is before the first attempt, one after each that fails.
    try await until { clock.lookCount > 4 }
    holder.letGo()
    #expect(await checkpoint.end())
    try await emptying.value
    #expect(fixture.store.thread.currentDirectory.logBytes == 0)
  }

  @Test("the directory is excluded from backups once; a changed tag is not written again")
  func backupTag() async throws {
    let fixture = try Fixture()
    let tag = fixture.directory.path("cache/CACHEDIR.TAG")
    let signature = "Signature: 8a477f597d28d172789f06886806bc55\n"
    try await until { FileManager.default.fileExists(atPath: tag) }
    try await until { try String(contentsOfFile: tag, encoding: .utf8).hasPrefix(signature) }
    try Data("mine".utf8).write(to: URL(fileURLWithPath: tag))
    let other = try fixture.other()
    try await other.reader.fileQueue.run { () throws(CacheError) in }
    #expect(try String(contentsOfFile: tag, encoding: .utf8) == "mine")
  }
}

/// A clock on which time passes with each look alone. With ten seconds, a store has soon waited long enough; with none, it
/// waits for an event.
private final class LookClock: CacheClock {
  private let looks = Atomic<Int>(0)
  private let step: Duration

  let now = Timestamp(seconds: 1_800_000_000)

  init(step: Duration) { self.step = step }

  /// How often the uptime was asked for.
  var lookCount: Int { looks.load(ordering: .relaxed) }

  var uptime: Duration { step * looks.add(1, ordering: .relaxed).newValue }

  func sleep(for duration: Duration) async throws { throw CancellationError() }
}
