import Foundation
import HTTPCacheTesting
import HTTPCaching
import Testing

@Suite("file: the stored body as a file, as long as it is held", .timeLimit(.minutes(10)))
struct CachedFileTests {
  private func request(_ fields: HTTPFields = [:], path: String = "/") -> HTTPRequest {
    HTTPRequest(
      method: .get, scheme: "https", authority: "example.com", path: path, headerFields: fields)
  }

  private func contents(_ file: CachedFile) -> String? {
    FileManager.default.contents(atPath: file.path).map { String(decoding: $0, as: UTF8.self) }
  }

  private func test(
    _ kind: StoreKind, count: Int = 26, _ fields: HTTPFields = [:]
  ) throws -> TestCache<RangeOrigin> {
    var all: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]
    for field in fields { all[field.name] = field.value }
    return try TestCache(kind, origin: RangeOrigin(count: count, all))
  }

  /// The file of the only body that is stored.
  private func bodyPath(_ test: TestCache<RangeOrigin>) async throws -> String {
    let page = try await test.cache.store.entries(.all, after: nil, limit: 1)
    return try #require(page.entries.first?.bodyPath)
  }

  @Test(
    "it has the body's bytes, for the user alone, and goes when it is let go",
    arguments: StoreKind.allCases, [0, 26, 300_000])
  func lifetime(kind: StoreKind, count: Int) async throws {
    let test = try test(kind, count: count, [.contentType: "image/png; x=y"])
    #expect(try await test.cache.file(for: request()) == nil)
    try await test.get()
    var file = try await test.cache.file(for: request())
    let path = try #require(file?.path)
    #expect(file?.length == Int64(count))
    #expect(file.flatMap(contents) == test.origin.text)
    #expect(path.hasSuffix(".png"))
    #expect(file?.head.headerFields[.eTag] == "\"a\"")
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    let folder = (path as NSString).deletingLastPathComponent
    let folderAttributes = try FileManager.default.attributesOfItem(atPath: folder)
    #expect((folderAttributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    if let directory = test.directory {
      #expect(path.hasPrefix(directory.resolvingSymlinksInPath().path + "/files/"))
    }
    file = nil
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(test.origin.requests.count == 1)
  }

  @Test("it stays what it is though the response is replaced and removed", arguments: StoreKind.allCases)
  func pinned(kind: StoreKind) async throws {
    let test = try test(kind, count: 300_000)
    try await test.get()
    let file = try #require(try await test.cache.file(for: request()))
    let text = test.origin.text
    test.origin.change(to: [1, 2], [.cacheControl: "max-age=60", .eTag: "\"b\""])
    try await test.get(policy: .reload)
    #expect(contents(file) == text)
    try await test.cache.store.remove(.all)
    #expect(contents(file) == text)
    let path = file.path
    file.close()
    file.close()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("on disk a large body is linked, not copied")
  func linked() async throws {
    let test = try test(.disk, count: 300_000)
    try await test.get()
    let file = try #require(try await test.cache.file(for: request()))
    #if os(Linux)
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect((attributes[.referenceCount] as? NSNumber)?.intValue == 2)
    #endif
    #expect(file.length == 300_000)
  }

  @Test("cacheElseNetwork takes a stale one, standard does not; must-revalidate forbids both")
  func freshness() async throws {
    let test = try test(.memory)
    try await test.get()
    #expect(try await test.cache.file(for: request(), policy: .standard) != nil)
    test.clock.advance(by: 100)
    #expect(try await test.cache.file(for: request(), policy: .standard) == nil)
    #expect(try await test.cache.file(for: request()) != nil)
    #expect(try await test.cache.file(for: request(), policy: .reload) == nil)
    let strict = try self.test(.memory, [.cacheControl: "max-age=60, must-revalidate"])
    try await strict.get()
    strict.clock.advance(by: 100)
    #expect(try await strict.cache.file(for: request()) == nil)
  }

  @Test("a part is no file; ranges and conditions of the request do not count", arguments: StoreKind.allCases)
  func incomplete(kind: StoreKind) async throws {
    let test = try test(kind)
    try await test.breakOff(after: 10)
    #expect(try await test.cache.file(for: request()) == nil)
    #expect(try await test.cache.file(for: request([.range: "bytes=0-3"])) == nil)
    try await test.get()
    for fields: HTTPFields in [[.range: "bytes=0-3"], [.ifNoneMatch: "\"a\""]] {
      let file = try await test.cache.file(for: request(fields))
      #expect(file.flatMap(contents) == test.origin.text)
    }
    #expect(
      try await test.cache.file(
        for: HTTPRequest(method: .post, scheme: "https", authority: "example.com", path: "/")) == nil)
    await #expect(throws: CacheError.self) {
      try await test.cache.file(
        for: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil))
    }
  }

  @Test(
    "no text of a message gets into the name",
    arguments: [
      "../../evil", "image/png/../../x", "text/html\u{0}", "", "IMAGE/PNG", "text/html ; charset=x",
    ])
  func names(type: String) async throws {
    let test = try test(.memory, [.contentType: type, .contentEncoding: "gzip"])
    try await test.get()
    let file = try #require(try await test.cache.file(for: request()))
    let name = (file.path as NSString).lastPathComponent
    #expect(name.hasSuffix(".gz"))
    #expect(name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") })
    #expect(contents(file) == test.origin.text)
  }

  @Test("a damaged body is no file, and told")
  func damaged() async throws {
    let test = try test(.disk, count: 300_000)
    try await test.get()
    try overwrite(try await bodyPath(test), at: 290_000)
    #expect(try await test.cache.file(for: request()) == nil)
    #expect(test.events.count { if case .storeFailed = $0 { true } else { false } } > 0)
    #expect(try await test.cache.store.counts().hits == 0)
  }

  @Test("a damaged body counts as no hit: the next request gets a miss, and that is all")
  func damagedCounts() async throws {
    let test = try test(.disk, count: 300_000)
    try await test.get()
    try overwrite(try await bodyPath(test), at: 290_000)
    let response = try await test.respond()
    while let bytes = try? await response.body.source.next(), !bytes.isEmpty {}
    // A later read of the source throws again, and does not count again.
    await #expect(throws: CacheError.self) { try await response.body.source.next() }
    try await test.get()
    try await test.get()
    let counts = try await test.cache.store.counts()
    #expect(counts.hits == 1)
    #expect(counts.hitBytes == 300_000)
    #expect(counts.misses == 2)
  }

  enum Damage: CaseIterable { case flipped, cut, gone, emptied }

  @Test(
    "a body whose beginning is damaged is a miss for the request that finds it", arguments: Damage.allCases)
  func damagedBeginning(_ damage: Damage) async throws {
    let test = try test(.disk, count: 600_000)
    try await test.get()
    let path = try await bodyPath(test)
    switch damage {
    case .flipped: try overwrite(path, at: 1_000)
    case .cut: #expect(truncate(path, 300_000) == 0)
    case .emptied: #expect(truncate(path, 0) == 0)
    case .gone: try FileManager.default.removeItem(atPath: path)
    }
    for (outcome, count) in [(FetchType.networkLoad, 2), (.localCache, 2)] {
      let response = try await test.respond()
      #expect(response.outcome.fetchType == outcome)
      let bytes = try await response.body.collect().array
      #expect(String(decoding: bytes, as: UTF8.self) == test.origin.text)
      #expect(test.origin.requests.count == count)
    }
    #expect(try await test.cache.store.counts().hits == 1)
    let answered = test.events.count { if case .answered = $0 { true } else { false } }
    #expect(answered == 3)
  }

  @Test(
    "a body file that is gone is told as not available, and one that is truncated as damaged",
    arguments: Damage.allCases)
  func damagedBodyEvents(_ damage: Damage) async throws {
    let test = try test(.disk, count: 600_000)
    try await test.get()
    let path = try await bodyPath(test)
    let expected: String
    switch damage {
    case .flipped:
      try overwrite(path, at: 1_000)
      expected = "read body: damaged"
    case .cut:
      #expect(truncate(path, 300_000) == 0)
      expected = "open body: damaged"
    case .emptied:
      #expect(truncate(path, 0) == 0)
      expected = "open body: damaged"
    case .gone:
      try FileManager.default.removeItem(atPath: path)
      expected = "open body: not available"
    }
    #expect(try await test.get().text == test.origin.text)
    let failures = test.events.events.compactMap { event -> String? in
      guard case .storeFailed(let operation, let error) = event else { return nil }
      return "\(operation): \(error.code)"
    }
    #expect(Set(failures) == [expected])
  }

  @Test("what a dead process left goes when the directory is opened; what a living one has stays")
  func sweeping() async throws {
    let test = try test(.disk)
    try await test.get()
    let file = try #require(try await test.cache.file(for: request()))
    let directory = try #require(test.directory)
    let dead = directory.appendingPathComponent("files/00000000000000ab")
    try FileManager.default.createDirectory(at: dead, withIntermediateDirectories: true)
    let left = dead.appendingPathComponent("left.png").path
    #expect(FileManager.default.createFile(atPath: left, contents: Data([1])))
    let lock = directory.appendingPathComponent("files/owners/00000000000000ab").path
    #expect(FileManager.default.createFile(atPath: lock, contents: nil))
    let second = try HTTPCache.open(
      HTTPCache.Configuration(directory: directory.path, clock: test.clock))
    #expect(!FileManager.default.fileExists(atPath: dead.path))
    #expect(!FileManager.default.fileExists(atPath: lock))
    #expect(contents(file) == test.origin.text)
    let other = try #require(try await second.file(for: request()))
    #expect(contents(other) == test.origin.text)
    #expect(contents(file) == test.origin.text)
  }

  @Test("it outlives its cache")
  func outliving() async throws {
    var test: TestCache<RangeOrigin>? = try test(.memory)
    try await test?.get()
    let text = test?.origin.text
    let file = try #require(try await test?.cache.file(for: request()))
    test = nil
    #expect(contents(file) == text)
  }
}
