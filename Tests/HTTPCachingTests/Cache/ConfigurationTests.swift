import HTTPCaching
import Testing

@Suite("What a configuration has unless told otherwise", .timeLimit(.minutes(10)))
struct ConfigurationTests {
  @Test(
    "32 MiB of memory, the directory's capacity, private, an eighth for the largest entry; the cache tells")
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
}
