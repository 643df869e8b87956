import Foundation
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Synchronization
import Testing

/// The contents of the directory of an encrypted cache.
@Suite(.timeLimit(.minutes(10))) struct SealedSecrecyTests {
  private static let secrets = [
    "secret-host", "secret-path", "secret-query", "secret-partition", "secret-group", "secret-field",
    "secret-value", "secret-user-info", "secret-nominated", "secret-body", "secret-trailer",
    "secret-reason", "secret-purge",
  ]

  private let directory: SealedDirectory

  init() throws { directory = try SealedDirectory() }

  private func record(_ number: Int = 0) throws -> CacheRecord {
    var response = StoreSample.response(language: "secret-nominated")
    response.head.headerFields[try #require(HTTPField.Name("secret-field"))] = "secret-value"
    response.trailers = [.eTag: "\"secret-trailer\""]
    return CacheRecord(
      key: CacheKey(
        mode: .private, partition: "secret-partition",
        target: "https://secret-host.example/secret-path/\(number)?secret-query"),
      response: response, groups: ["secret-group"], userInfo: Array("secret-user-info".utf8))
  }

  private func body(_ count: Int) -> BodyBytes {
    BodyBytes(Array(String(repeating: "secret-body ", count: count / 12 + 1).utf8.prefix(count)))
  }

  // In the index, in files, parts, notes, and the epoch of a removal of many entries.
  private func fill(_ store: any CacheStore) async throws {
    for (number, count) in [0, 10, 16_000, 70_000, 400_000].enumerated() {
      try await store.store(try record(number), body(count))
    }
    let part = try record(7).storing([0..<200_000], bodyLength: 400_000)
    try await store.store(part, body(200_000))
    store.note(
      RefusalNote(
        key: try record(7).key, time: StoreSample.start, status: 200,
        explanation: CacheExplanation(steps: [
          CacheExplanation.Step("secret-reason?", "secret-value", section: "")
        ])))
    try await store.invalidate(.prefix("https://secret-host.example/secret-path/1"))
    try await store.invalidate(.group(origin: "https://secret-host.example", name: "secret-group"))
    for entry in try await store.entries(.all, after: nil, limit: 100).entries {
      try await store.update(entry.record)
    }
  }

  @Test("nothing of what is stored lies there in the clear")
  func nothingIsInTheClear() async throws {
    let plain = try SealedDirectory()
    let control = try plain.disk()
    try await fill(control)
    await control.flush()
    // A text that does not show without encryption would prove nothing.
    #expect(try plain.found(Self.secrets).count >= 12)

    let store = try directory.sealed(try directory.disk())
    try await fill(store)
    #expect(try directory.found(Self.secrets) == [])
    await store.flush()
    #expect(try directory.found(Self.secrets) == [])
    #expect(try store.read(try record(3).key).count == 1)
    #expect(directory.damage.withLock { $0.isEmpty })
  }

  @Test("what was stored in the clear is removed for good when a key is given")
  func plainIsRemoved() async throws {
    let log = EventLog()
    var configuration = HTTPCache.Configuration(
      directory: directory.path + "/cache", observer: log, clock: directory.clock)
    do {
      let cache = try HTTPCache.open(configuration)
      try await fill(cache.store)
      // Removed rows leave their bytes in the pages of the index.
      try await cache.store.remove(.key(try record(2).key))
      await cache.flush()
    }
    #expect(try directory.found(["secret-body", "secret-host"]).count == 2)
    configuration.encryption = .key(try EncryptionKey(0..<32))
    do {
      let cache = try HTTPCache.open(configuration)
      #expect(try directory.found(Self.secrets) == [])
      #expect(log.contains(.removedPlain(responses: 5)))
      #expect(try cache.store.read(try record().key).isEmpty)
      try await fill(cache.store)
      #expect(try cache.store.read(try record().key).count == 1)
    }
    // Responses under this key are found when the directory is opened again, and there is no notice.
    let before = log.notices.count
    let again = try HTTPCache.open(configuration)
    #expect(try again.store.read(try record().key).count == 1)
    #expect(log.notices.count == before)
    #expect(try directory.found(Self.secrets) == [])
  }

  @Test("what a process without the key leaves after one with it had the directory goes at the next opening")
  func plainOutlives() async throws {
    var configuration = HTTPCache.Configuration(
      directory: directory.path + "/cache", clock: directory.clock)
    let secret = "secret-note"
    do {
      let plain = try HTTPCache.open(configuration)
      configuration.encryption = .key(try EncryptionKey(0..<32))
      await (try HTTPCache.open(configuration)).flush()
      plain.store.note(
        RefusalNote(
          key: StoreSample.key(), time: directory.clock.now, status: 200,
          explanation: CacheExplanation(steps: [.init(secret, secret, section: "")])))
      await plain.flush()
      #expect(try directory.found([secret]) == [secret])
    }
    await (try HTTPCache.open(configuration)).flush()
    #expect(try directory.found([secret]) == [])
  }

  @Test("with another key, or none, nothing is found, told, and left alone")
  func otherKey() async throws {
    let log = EventLog()
    var configuration = HTTPCache.Configuration(
      directory: directory.path + "/cache", encryption: .key(try EncryptionKey(0..<32)),
      observer: log, clock: directory.clock)
    do {
      let cache = try HTTPCache.open(configuration)
      try await fill(cache.store)
      await cache.flush()
    }
    #expect(log.notices == [])
    for (other, count) in [(CacheEncryption.key(.random()), 6), (nil, 7)] {
      configuration.encryption = other
      let cache = try HTTPCache.open(configuration)
      #expect(log.notices.last == .otherKey(responses: count))
      #expect(try cache.store.read(try record().key).isEmpty)
      #expect(try await cache.store.entries(.prefix("https://"), after: nil, limit: 9).entries.isEmpty)
      try await cache.store.store(StoreSample.record(), StoreSample.body(10))
      #expect(try cache.store.read(StoreSample.key()).count == 1)
      await cache.flush()
    }
    configuration.encryption = .key(try EncryptionKey(0..<32))
    let cache = try HTTPCache.open(configuration)
    // The entry of the other key; the plain one was removed.
    #expect(log.notices.suffix(2) == [.removedPlain(responses: 1), .otherKey(responses: 1)])
    #expect(try await cache.store.onlyBody(try record(4).key) == body(400_000).array)
  }

  @Test("a key has 32 bytes, and does not show when it is printed")
  func keys() throws {
    for count in [0, 16, 31, 33, 64] {
      let error = #expect(throws: CacheError.self) {
        try EncryptionKey([UInt8](repeating: 7, count: count))
      }
      #expect(error?.code == .invalidKey)
    }
    let key = try EncryptionKey([UInt8](repeating: 0xAB, count: 32))
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped, "\(CacheEncryption.key(key))"] {
      #expect(!text.contains("171") && !text.lowercased().contains("abab"))
    }
    #expect(EncryptionKey.random().array != EncryptionKey.random().array)
  }

  @Test("a cipher that cannot be made lets nothing be opened")
  func noCipher() throws {
    let configuration = HTTPCache.Configuration(
      directory: directory.path + "/cache",
      encryption: .cipher { (_) throws(CacheError) in throw CacheError(.unavailable, "no key now") })
    #expect(throws: CacheError.self) { try HTTPCache.open(configuration) }
  }
}

extension EventLog {
  fileprivate var notices: [EncryptionNotice] {
    events.compactMap { if case .encryption(let notice) = $0 { notice } else { nil } }
  }

  fileprivate func contains(_ notice: EncryptionNotice) -> Bool { notices.contains(notice) }
}
