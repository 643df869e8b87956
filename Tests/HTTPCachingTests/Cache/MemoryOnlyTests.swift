import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("What may be in memory only never gets to the disk", .timeLimit(.minutes(10)))
struct MemoryOnlyTests {
  private let secret = "body-that-nobody-must-find-on-disk"
  private let tag = "\"entity-tag-that-nobody-must-find\""

  private static let inMemoryOnceFreshened = StoringHook { _, proposal in
    var proposal = proposal
    if proposal.isFreshening { proposal.storagePolicy = .allowedInMemoryOnly }
    return proposal
  }

  private func origin() -> RangeOrigin {
    let origin = RangeOrigin(count: 1)
    origin.change(to: Array(secret.utf8), [.cacheControl: "max-age=10", .eTag: tag])
    return origin
  }

  /// The files of a directory in which a text is found.
  private func files(with text: String, in directory: URL?) throws -> [String] {
    let directory = try #require(directory)
    let names = FileManager.default.enumerator(atPath: directory.path)?.compactMap { $0 as? String } ?? []
    #expect(names.contains { $0.hasPrefix("Cache.db") })
    return names.filter { name in
      guard let data = FileManager.default.contents(atPath: directory.appendingPathComponent(name).path)
      else { return false }
      return data.range(of: Data(text.utf8)) != nil
    }
  }

  @Test("whole, freshened and partial responses stay off the disk, and are answered from memory")
  func neverOnDisk() async throws {
    let test = try TestCache(.memoryOverDisk, origin: origin()) {
      $0.willStore = .secureInMemoryOnly
    }
    try await test.breakOff(after: 9)
    #expect(try await test.range("bytes=0-3").text == "body")
    #expect(test.origin.requests.count == 1)
    #expect(try await test.get().text == secret)
    #expect(test.origin.sent == secret.utf8.count)
    test.clock.advance(by: 20)
    #expect(try await test.get().outcome.fetchType == .validated)
    #expect(try await test.get().outcome.fetchType == .localCache)
    await test.cache.flush()
    #expect(try files(with: secret, in: test.directory).isEmpty)
    #expect(try files(with: String(secret.prefix(9)), in: test.directory).isEmpty)
    #expect(try files(with: tag, in: test.directory).isEmpty)
  }

  @Test("no file is made of it unless the caller says so, or there is no directory")
  func files() async throws {
    for kind in StoreKind.allCases where kind != .disk {
      let test = try TestCache(kind, origin: origin()) { $0.willStore = .secureInMemoryOnly }
      #expect(try await test.get().text == secret)
      let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
      let file = try await test.cache.file(for: request)
      #expect((file == nil) == (kind == .memoryOverDisk))
      if kind == .memoryOverDisk {
        #expect(try files(with: secret, in: test.directory).isEmpty)
      }
      let wanted = try await test.cache.file(for: request, writesMemoryOnly: true)
      #expect(wanted?.length == Int64(secret.utf8.count))
    }
  }

  @Test("a rule for its path and the note of a response that broke off stay off the disk too")
  func pointersAndNotes() async throws {
    let noVarySearch = try #require(HTTPField.Name("No-Vary-Search"))
    let test = try TestCache(
      .memoryOverDisk, origin: origin(), rules: CacheRules(obeysNoVarySearch: true)
    ) {
      $0.willStore = .secureInMemoryOnly
    }
    test.origin.change(
      to: Array(secret.utf8), [.cacheControl: "max-age=10", .eTag: tag, noVarySearch: "params"])
    #expect(try await test.get().text == secret)
    #expect(try await test.get().outcome.fetchType == .localCache)
    test.origin.change(
      to: Array(secret.utf8), [.cacheControl: "max-age=10", .eTag: "W/" + tag])
    test.origin.breaks(after: 9)
    let response = try await test.respond(policy: .reload)
    await #expect(throws: UpstreamError.self) { try await response.body.collect() }
    await test.events.wait(EventLog.isEnd)
    await test.cache.flush()
    #expect(try files(with: "params", in: test.directory).isEmpty)
    #expect(try files(with: tag, in: test.directory).isEmpty)
    #expect(try files(with: "example.com", in: test.directory).isEmpty)
  }

  @Test("without the hook they are found there, so that the test before means something")
  func onDisk() async throws {
    let test = try TestCache(.memoryOverDisk, origin: origin())
    try await test.get()
    await test.cache.flush()
    #expect(try !files(with: secret, in: test.directory).isEmpty)
    #expect(try !files(with: tag, in: test.directory).isEmpty)
  }

  @Test("a cache without memory does not store it, and says so")
  func diskAlone() async throws {
    let test = try TestCache(.disk, origin: origin()) { $0.willStore = .secureInMemoryOnly }
    let answer = try await test.get()
    guard case .forwarded(_, _, .doNotStore(.memoryOnly), _) = answer.outcome else {
      Issue.record("\(answer.outcome)")
      return
    }
    #expect(answer.text == secret)
    #expect(test.events.count { if case .storeFailed = $0 { true } else { false } } == 0)
  }

  @Test("one that turns out too large is refused with the limit of memory, not of the disk")
  func tooLarge() async throws {
    let test = try TestCache(.memoryOverDisk, origin: TestOrigin()) {
      $0.memoryCapacity = 800_000
      $0.willStore = .secureInMemoryOnly
    }
    test.origin.streams([.cacheControl: "max-age=60"]) { _ in
      TestBody(piece: [UInt8](repeating: 7, count: 50_000), count: 10)
    }
    #expect(try await test.get("/").text.utf8.count == 500_000)
    let refusals = test.events.events.compactMap { event -> StorageRefusal? in
      if case .notStored(_, let refusal) = event { refusal } else { nil }
    }
    #expect(refusals == [.tooLarge(limit: 100_000)])
  }

  @Test("what is on disk already goes when it may only be in memory")
  func leavingDisk() async throws {
    let test = try TestCache(.memoryOverDisk, origin: origin()) {
      $0.willStore = Self.inMemoryOnceFreshened
    }
    try await test.get()
    test.clock.advance(by: 20)
    #expect(try await test.get().text == secret)
    #expect(
      test.events.count {
        if case .removed(_, .refused(.memoryOnly)) = $0 { true } else { false }
      } == 1)
    #expect(try await test.get().outcome.fetchType == .networkLoad)
  }

  @Test("an entry in memory alone stays where it may only be in memory, also with seeds below it")
  func stayingInMemory() async throws {
    let test = try TestCache(.memory, origin: origin()) {
      $0.seeds = [ListedSeeds([])]
      $0.willStore = Self.inMemoryOnceFreshened
    }
    try await test.get()
    test.clock.advance(by: 20)
    #expect(try await test.get().text == secret)
    #expect(try await test.get().outcome.fetchType == .localCache)
  }

  @Test(
    "a part that may not be completed is removed, and the whole is passed on", arguments: StoreKind.allCases)
  func refusingCompletion(kind: StoreKind) async throws {
    let test = try TestCache(kind, origin: origin()) {
      $0.willStore = StoringHook { _, proposal in proposal.isFreshening ? nil : proposal }
    }
    try await test.breakOff(after: 9)
    #expect(try await test.get().text == secret)
    #expect(test.origin.requests.count == 3)
    #expect(try await test.get().outcome.fetchType == .localCache)
  }
}
