import HTTPCacheSealing
import HTTPCacheStore
import HTTPCacheTesting
import HTTPCaching
import SealingTesting
import Synchronization
import Testing

/// A caller's cipher with other lengths than AES-GCM.
@Suite(.timeLimit(.minutes(10))) struct SealedCipherTests {
  private let directory: SealedDirectory

  init() throws { directory = try SealedDirectory() }

  @Test("chunks are cut by the cipher's own overhead", arguments: [0, 4, 12, 996])
  func layout(_ padding: Int) async throws {
    let disk = try directory.disk("cache-\(padding)")
    let cipher = try PaddedCipher(of: disk.secret, padding: padding)
    let store = try SealedStore(base: disk, cipher: cipher) { error in
      directory.damage.withLock { $0.append(error) }
    }
    let chunk = 65_536 - 28 - padding
    for size in [0, 1, chunk - 1, chunk, chunk + 1, 5 * chunk] {
      let key = StoreSample.key("/\(size)")
      let body = StoreSample.body(size)
      try await store.store(StoreSample.record(key), body)
      #expect(try await store.onlyBody(key) == body.array)
      let below = try #require(try await disk.entries(.all, after: nil, limit: 99).entries.last)
      #expect(below.record.bodyLength == SealedStore.sealedLength(of: Int64(size), overhead: 28 + padding))
    }
    let part = StoreSample.record(StoreSample.key("/part")).storing(
      [0..<Int64(2 * chunk + 9)], bodyLength: Int64(9 * chunk))
    #expect(
      try await store.store(part, StoreSample.body(2 * chunk + 9)).storedRanges == [0..<Int64(2 * chunk)])
    #expect(try await store.verify().isSound)
    #expect(directory.damage.withLock { $0.isEmpty })
  }

  @Test("the largest entry is that of the body, whatever is added to it")
  func largestEntry() async throws {
    var configuration = HTTPCache.Configuration(
      directory: directory.path + "/cache", memoryCapacity: 0,
      encryption: .cipher { (secret) throws(CacheError) in
        do { return try PaddedCipher(of: secret, padding: 996) } catch {
          throw CacheError(.unavailable, "\(error)")
        }
      }, clock: directory.clock)
    configuration.largestEntry = .bytes(200_000)
    let store = try HTTPCache.open(configuration).store
    try await store.store(StoreSample.record(), StoreSample.body(200_000))
    #expect(try await store.onlyBody(StoreSample.key()) == StoreSample.body(200_000).array)
    let error = await #expect(throws: CacheError.self) {
      try await store.store(StoreSample.record(StoreSample.key("/b")), StoreSample.body(200_001))
    }
    #expect(error?.code == .tooLarge)
  }

  @Test(
    "one whose lengths cannot be used is refused with the reason",
    arguments: [(-13, 8, 32), (997, 8, 32), (0, 7, 32), (0, 65, 32), (0, 8, 15)])
  func isRefused(padding: Int, keyIDLength: Int, digestLength: Int) throws {
    let memory = MemoryStore(capacity: 1 << 20)
    let cipher = try PaddedCipher(
      of: memory.secret, padding: padding, keyIDLength: keyIDLength, digestLength: digestLength)
    let error = #expect(throws: CacheError.self) { try SealedStore(base: memory, cipher: cipher) }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("the cipher's") == true)
  }
}
