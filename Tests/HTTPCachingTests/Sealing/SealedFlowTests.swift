import Foundation
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Testing

/// The engine over an encrypted directory, and two caches over one.
@Suite(.timeLimit(.minutes(10))) struct SealedFlowTests {
  private let directory: SealedDirectory

  init() throws { directory = try SealedDirectory() }

  private func configure(_ configuration: inout HTTPCache.Configuration) throws {
    configuration.directory = directory.path + "/cache"
    configuration.encryption = .key(try EncryptionKey(0..<32))
    configuration.clock = directory.clock
  }

  @Test("stores with one key share what is stored, removed and freshened; memory above notices")
  func twoStores() async throws {
    var configuration = HTTPCache.Configuration()
    try configure(&configuration)
    let one = try HTTPCache.open(configuration)
    let two = try HTTPCache.open(configuration)
    let key = StoreSample.key()
    try await one.store.store(StoreSample.record(), StoreSample.body(5_000, seed: 1))
    for seed in 2...5 as ClosedRange<UInt64> {
      // Repeat until memory answers.
      for _ in 0..<3 { _ = try await two.store.onlyBody(key) }
      try #require(two.store.peek(key)?.isEmpty == false, "memory has no copy")
      try await one.store.store(StoreSample.record(tag: "\"\(seed)\""), StoreSample.body(5_000, seed: seed))
      try #require(two.store.peek(key) == nil, "memory answers with what was replaced")
      #expect(try await two.store.onlyBody(key) == StoreSample.body(5_000, seed: seed).array)
    }
    _ = try await two.store.onlyBody(key)
    try await one.store.invalidate(.prefix("https://example.com"))
    #expect(try two.store.read(key).first?.record.response.isInvalidated == true)
    try await one.store.remove(.target(key.target))
    #expect(try two.store.read(key).isEmpty)
  }

  private func test(_ count: Int) throws -> TestCache<RangeOrigin> {
    let encryption = CacheEncryption.key(try EncryptionKey(0..<32))
    return try TestCache(
      .disk, origin: RangeOrigin(count: count, [.cacheControl: "max-age=60", .eTag: "\"a\""])
    ) { $0.encryption = encryption }
  }

  @Test("requests are answered, in ranges too", arguments: [300, 300_000])
  func requests(_ count: Int) async throws {
    let test = try test(count)
    let text = test.origin.text
    #expect(try await test.get().text == text)
    #expect(try await test.get().text == text)
    let part = try await test.range("bytes=105-204")
    #expect(part.text == String(text.dropFirst(105).prefix(100)))
    #expect(test.origin.requests.count == 1)
  }

  @Test("what broke off goes on from the last whole chunk")
  func resumes() async throws {
    let test = try test(300_000)
    try await test.breakOff(after: 200_000)
    #expect(try await test.get().text == test.origin.text)
    #expect(try test.lastRequest()[.range] == "bytes=196524-")
    #expect(try await test.get().text == test.origin.text)
    #expect(test.origin.requests.count == 2)
  }

  @Test("a range that is no whole chunk is answered and not stored; one that has some is")
  func ranges() async throws {
    let test = try test(300_000)
    let text = test.origin.text
    #expect(try await test.range("bytes=10-19").text == String(text.dropFirst(10).prefix(10)))
    #expect(
      try await test.range("bytes=1000-199999").text == String(text.dropFirst(1_000).prefix(199_000)))
    #expect(test.origin.requests.count == 2)
    #expect(
      try await test.range("bytes=70000-150000").text == String(text.dropFirst(70_000).prefix(80_001)))
    #expect(test.origin.requests.count == 2)
    #expect(try await test.get().text == text)
    #expect(try await test.get().text == text)
    #expect(test.events.count { if case .storeFailed = $0 { true } else { false } } == 0)
  }

  @Test("a file is handed out as it was, but only if the caller allows it to be in the clear")
  func files() async throws {
    let test = try test(300_000)
    try await test.get()
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
    #expect(try await test.cache.file(for: request) == nil)
    let file = try #require(try await test.cache.file(for: request, writesMemoryOnly: true))
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == test.origin.text)
  }

  @Test("the engine says why what is too long was not stored, and answers all the same")
  func isRefused() async throws {
    let encryption = CacheEncryption.key(try EncryptionKey(0..<32))
    let name = try #require(HTTPField.Name("X-Long"))
    let test = try TestCache(
      .disk,
      origin: RangeOrigin(
        count: 300,
        [.cacheControl: "max-age=60", .eTag: "\"a\"", name: String(repeating: "x", count: 1 << 20)])
    ) { $0.encryption = encryption }
    #expect(try await test.get().text == test.origin.text)
    #expect(try await test.get().text == test.origin.text)
    #expect(test.origin.requests.count == 2)
    let refusals = test.events.events.compactMap {
      if case .notStored(_, let refusal) = $0 { refusal } else { nil }
    }
    #expect(refusals.contains { if case .tooLarge = $0 { true } else { false } })
  }
}
