#if Redis
  import Foundation
  import HTTPCacheRedis
  import HTTPCacheSemantics
  import HTTPCacheStore
  import HTTPCacheTesting
  import HTTPCaching
  import HTTPTypes

  /// Questions a second to a tier on a server, for scripts/bench-redis.py: redis-tier-benchmark ADDRESS SECONDS
  @main
  struct RedisTierBenchmark {
    static func main() async throws {
      let arguments = CommandLine.arguments
      guard arguments.count == 3, let seconds = Double(arguments[2]) else {
        print("usage: redis-tier-benchmark ADDRESS SECONDS")
        exit(2)
      }
      let tier = try RedisTier(
        RedisTier.Configuration(address: try RedisAddress(arguments[1]), name: "bench"))
      let key = StoreSample.key(mode: .shared)
      let body = SharedBody(id: 1, length: Int64(SharedBody.partSize))
      try await publish(tier, key, inline: [UInt8](repeating: 1, count: 4_096), body: nil)
      try await measure("find 4 KiB", tasks: 50, seconds) {
        guard try await tier.find([key]).variants[0].count == 1 else { throw CancellationError() }
      }
      let missing = StoreSample.key("/missing", mode: .shared)
      for tasks in [50, 1] {
        try await measure("find nothing, \(tasks)", tasks: tasks, seconds) {
          _ = try await tier.find([missing])
        }
      }
      try await tier.write([UInt8](repeating: 1, count: SharedBody.partSize), part: 0, of: body, for: key)
      try await publish(tier, key, inline: nil, body: body)
      try await measure("part 256 KiB", tasks: 8, seconds) {
        guard try await tier.parts(0..<1, of: body, for: key)?.count == 1 else { throw CancellationError() }
      }
      await tier.close()
      try await bodies(try RedisAddress(arguments[1]), seconds)
    }

    /// The rates of a body of 1 MiB through a cache: from the tier at a node that cannot keep it, and from the disk.
    private static func bodies(_ address: RedisAddress, _ seconds: Double) async throws {
      let directory = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())").path
      defer { try? FileManager.default.removeItem(atPath: directory) }
      var configuration = HTTPCache.Configuration(rules: CacheRules(mode: .shared))
      func node() async throws -> HTTPCache {
        configuration.shared = try RedisTier(.init(address: address, name: "bench"))
        let cache = try HTTPCache.open(configuration)
        guard await cache.join(within: .seconds(5)) else { throw CancellationError() }
        return cache
      }
      let publisher = try await node()
      configuration.memoryCapacity = 0
      let reader = try await node()
      let disk = try HTTPCache.open(
        HTTPCache.Configuration(
          directory: directory, memoryCapacity: 0, rules: CacheRules(mode: .shared)))
      let origin = ScriptedUpstream { _ in
        .init(headers: ["Cache-Control": "max-age=3600"], chunks: [StoreSample.body(1 << 20)])
      }
      let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/1MiB")
      @Sendable func read(_ cache: HTTPCache) async throws {
        let response = try await cache.respond(to: request, via: origin)
        guard try await response.body.collect().count == 1 << 20 else { throw CancellationError() }
      }
      try await read(publisher)
      try await read(disk)
      // Published and committed in the background.
      let tier = try RedisTier(.init(address: address, name: "bench"))
      while try await tier.find([StoreSample.key("/1MiB", mode: .shared)]).variants[0].isEmpty {
        try await Task.sleep(for: .milliseconds(10))
      }
      await tier.close()
      let asked = origin.requestCount
      try await measure("body 1 MiB from the tier", tasks: 1, seconds) { try await read(reader) }
      try await measure("body 1 MiB from the disk", tasks: 1, seconds) { try await read(disk) }
      guard origin.requestCount == asked else { throw CancellationError() }
      for cache in [publisher, reader, disk] { await cache.close() }
    }

    private static func publish(
      _ tier: RedisTier, _ key: CacheKey, inline: [UInt8]?, body: SharedBody?
    ) async throws {
      let variant = SharedVariant(
        record: StoreSample.record(key), age: 0, published: 0, ticket: .start, inlineBody: inline, body: body)
      let publication = SharedPublication(variant: variant, lifetime: .seconds(600), token: nil)
      guard try await tier.publish(publication) else { throw CancellationError() }
    }

    /// Prints a name and how many questions some tasks ask a second.
    private static func measure(
      _ name: String, tasks: Int, _ seconds: Double, _ question: @escaping @Sendable () async throws -> Void
    ) async throws {
      let clock = ContinuousClock()
      let start = clock.now
      let end = start + .seconds(seconds)
      let count = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<tasks {
          group.addTask {
            var count = 0
            while clock.now < end {
              try await question()
              count += 1
            }
            return count
          }
        }
        return try await group.reduce(0, +)
      }
      let taken = (clock.now - start) / .seconds(1)
      print("\(name)\t\(Int(Double(count) / taken))")
    }
  }
#else
  @main
  struct RedisTierBenchmark {
    static func main() { print("built without the trait Redis") }
  }
#endif
