import HTTPCacheStore
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

  private func error(_ change: (inout HTTPCache.Configuration) throws -> Void) rethrows -> CacheError? {
    var configuration = HTTPCache.Configuration()
    try change(&configuration)
    do throws(CacheError) { _ = try HTTPCache.open(configuration) } catch { return error }
    return nil
  }

  @Test("a value that a property cannot have is an error in open that names both")
  func badValues() throws {
    let seconds = Duration.seconds(-1)
    let errors: [(CacheError?, String)] = [
      (error { $0.memoryCapacity = -5 }, "memoryCapacity must not be negative (got -5 bytes)"),
      (error { $0.diskCapacity = -1 }, "diskCapacity"),
      (error { $0.minimumFreeDiskSpace = -1 }, "minimumFreeDiskSpace"),
      (error { $0.largestEntry = -1 }, "largestEntry"), (error { $0.largestEntry = .share(1.5) }, "1.5"),
      (error { $0.largestEntry = .share(.nan) }, "largestEntry"),
      (error { $0.rules.heuristicFraction = -0.1 }, "-0.1"),
      (error { $0.rules.heuristicFraction = .infinity }, "inf"),
      (error { $0.rules.heuristicLimit = seconds }, "heuristicLimit"),
      (error { $0.rules.variantLimit = 0 }, "variantLimit"),
      (error { $0.rules.queryContentLimit = -1 }, "queryContentLimit"),
    ]
    for (error, text) in errors {
      #expect(error?.code == .invalidValue)
      #expect(error?.message.contains(text) == true, "\(text): \(error?.message ?? "none")")
    }
  }

  @Test(
    "an effect with a value that it cannot have is an error in open",
    arguments: [
      .lifetime(.exactly(.seconds(-1))), .lifetime(.atLeast(.seconds(-1))),
      .lifetime(.atMost(.milliseconds(-1))),
      .staleIfError(.seconds(-1)), .staleWhileRevalidate(.seconds(-1)), .heuristics(fraction: -1),
      .heuristics(fraction: .nan), .heuristics(fraction: 0.1, limit: .seconds(-1)),
      .cacheControl("max-age=abc"),
      .cacheControl("max-age"), .cacheControl("max-age=-1"), .cacheControl("no-store, s-maxage=1.5"),
      .cacheControl("public=1"), .cacheControl("max-age=60; private"),
      .cacheControl("stale-if-error=x", whenAbsent: true),
    ] as [RuleEffect])
  func badEffects(_ effect: RuleEffect) throws {
    let error = error {
      $0.rules.overrides = [RuleOverride(effects: []), RuleOverride(name: "mine", effects: [effect])]
    }
    #expect(error?.code == .invalidValue)
    #expect(error?.message.contains("override 2 (mine)") == true)
  }

  @Test(
    "what is valid, and extensions, are no error",
    arguments: [
      .lifetime(.exactly(.zero)), .cacheControl("max-age=60, stale-if-error=86400"), .cacheControl(""),
      .cacheControl("private=\"set-cookie\", no-cache"), .cacheControl("max-age=\"60\""),
      .cacheControl("x-own=1, other"),
      .heuristics(fraction: 0),
    ] as [RuleEffect])
  func goodEffects(_ effect: RuleEffect) {
    #expect(error { $0.rules.overrides = [RuleOverride(effects: [effect])] } == nil)
  }

  @Test("a prefix that is no URL is an error where it is given, not an empty selection")
  func prefixes() async throws {
    let cache = try HTTPCache.open(HTTPCache.Configuration())
    for selection in [CacheSelection.prefix("example.com"), .prefix("/a"), .target("example.com/a")] {
      await #expect(throws: CacheError.self) { try await cache.remove(selection) }
      await #expect(throws: CacheError.self) { try await cache.invalidate(selection) }
      await #expect(throws: CacheError.self) { _ = try await cache.entries(selection) }
    }
    #expect(throws: TargetPatternError.self) { try TargetPattern.prefix("example.com") }
    await #expect(throws: CacheError.self) { try await cache.setCapacity(memory: -1) }
  }
}
