import Testing

@testable import HTTPCaching

@Suite("What a configuration has unless told otherwise", .timeLimit(.minutes(10)))
struct ConfigurationTests {
  @Test(
    "32 MiB of memory, the directory's capacity, private, the largest entry by the tier; the cache tells")
  func defaults() throws {
    let configuration = HTTPCache.Configuration()
    #expect(configuration.memoryCapacity == 33_554_432)
    #expect(configuration.diskCapacity == nil)
    #expect(configuration.largestEntry == .default)
    #expect(configuration.rules == CacheRules(mode: .private))
    #expect(configuration.directory == nil)
    let cache = try HTTPCache.open(configuration)
    #expect(cache.configuration.memoryCapacity == 33_554_432)
    #expect(cache.store.usage.memoryCapacity == 33_554_432)
    #expect(cache.store.usage.diskCapacity == 0, "without a directory there is no disk")
  }

  @Test("the largest entry is an eighth of memory and half of the disk, or what is told")
  func largestEntry() {
    var configuration = HTTPCache.Configuration()
    #expect(configuration.largestEntry.bytes(of: 800) == 100)
    #expect(configuration.largestEntryOnDisk == .share(0.5))
    configuration.largestEntry = .share(0.125)
    #expect(configuration.largestEntryOnDisk == .share(0.125))
  }

  @Test("userCaches passes on the largest entry, encryption and the hook")
  func userCaches() throws {
    let configuration = HTTPCache.Configuration.userCaches(
      "com.example.app", largestEntry: 5,
      encryption: .cipher { _ throws(CacheError) in throw CacheError(.unavailable, "none") },
      willStore: StoringHook { _, _ in nil })
    #expect(configuration.largestEntry == 5)
    #expect(configuration.encryption != nil && configuration.willStore != nil)
  }
}
