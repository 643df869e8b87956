import Foundation
import HTTPCacheTesting
import Testing

@testable import HTTPCaching

@Suite("A fleet: a node that restarts", .timeLimit(.minutes(10)))
struct FleetRestartTests {
  private let clock = ManualClock(now: Timestamp(seconds: 1_700_000_000))
  private let origin = TestOrigin()

  init() {
    origin.answers { _, number in (200, [.cacheControl: "max-age=600"], "\(number)") }
  }

  /// Runs a test with a server of a tier, and a directory of a node.
  private func withDirectory(
    logLimit: Int = 10_000, _ body: (LoopbackServer, String) async throws -> Void
  ) async throws {
    let folder = try ScratchFolder()
    try await body(LoopbackServer(clock: clock, logLimit: logLimit), folder.path("cache"))
  }

  private func open(_ server: LoopbackServer, _ directory: String?, _ name: String) async throws -> (
    HTTPCache, EventLog
  ) {
    let events = EventLog()
    var configuration = HTTPCache.Configuration(
      directory: directory, rules: CacheRules(mode: .shared), observer: events, clock: clock)
    configuration.shared = LoopbackTier(server)
    configuration.fleet.nodeName = name
    let cache = try HTTPCache.open(configuration)
    #expect(await cache.join(within: .seconds(5)))
    return (cache, events)
  }

  private func get(_ cache: HTTPCache, _ path: String = "/") async throws -> (String, CacheOutcome) {
    let response = try await cache.respond(to: TestFleet.request(path), via: origin)
    let text = String(decoding: try await response.body.collect().array, as: UTF8.self)
    await cache.finishBackgroundWork(within: .seconds(60))
    return (text, response.outcome)
  }

  private func gaps(_ events: EventLog) -> [FleetGap] {
    events.events.compactMap { if case .fleet(.invalidatedAll(let gap)) = $0 { gap } else { nil } }
  }

  @Test("It applies the changes that it missed before it serves, and keeps the rest")
  func catchesUp() async throws {
    try await withDirectory { server, directory in
      let (other, _) = try await open(server, nil, "other")
      let (first, _) = try await open(server, directory, "n")
      #expect(try await get(first, "/a").0 == "1")
      #expect(try await get(first, "/b").0 == "2")
      try await first.remove(.target(TestFleet.target("/x")))
      await server.waitUntilApplied(by: "n")
      await first.close()
      // A purge does not wait for a node that has ended.
      #expect(try await other.fleetNodes().map(\.name) == ["other"])
      try await other.remove(.target(TestFleet.target("/a")))
      let (second, events) = try await open(server, directory, "n")
      #expect(gaps(events) == [])
      #expect(try await get(second, "/b").1.isHit)
      #expect(try await get(second, "/a").0 == "3")
      await second.close()
      await other.close()
    }
  }

  @Test(
    "Without its position, with a lost log, or with a cut log, it takes all of its entries for invalidated")
  func gaps() async throws {
    for gap in [FleetGap.unknownPosition, .logLost, .logCut] {
      try await withDirectory(logLimit: 3) { server, directory in
        let (first, _) = try await open(server, directory, "n")
        let text = try await get(first).0
        await first.close()
        switch gap {
        case .unknownPosition:
          try FileManager.default.removeItem(atPath: directory + "/" + SavedPosition.fileName)
        case .logLost: server.flush()
        case .logCut:
          let (other, _) = try await open(server, nil, "other")
          for number in 0..<6 { try await other.remove(.target(TestFleet.target("/\(number)"))) }
          await other.close()
        case .absence, .backlog, .unreadableChange, .stalenessBound: break
        }
        server.evict(TestFleet.key("/"))
        let (second, events) = try await open(server, directory, "n")
        #expect(gaps(events) == [gap])
        #expect(try await get(second).0 != text)
        await second.close()
      }
    }
  }

  @Test("A cache whose directory cannot be opened does not move the position that the directory keeps")
  func memoryInstead() async throws {
    try await withDirectory { server, directory in
      let (other, _) = try await open(server, nil, "other")
      let (first, _) = try await open(server, directory, "n")
      #expect(try await get(first).0 == "1")
      await first.close()
      // A cache does not follow a link out of its directory.
      let (bodies, kept) = (directory + "/bodies", directory + ".kept")
      try FileManager.default.moveItem(atPath: bodies, toPath: kept)
      try FileManager.default.createSymbolicLink(atPath: bodies, withDestinationPath: kept)
      let (inMemory, events) = try await open(server, directory, "n")
      #expect(events.count { if case .storeFailed(operation: "open", _) = $0 { true } else { false } } == 1)
      try await other.remove(.target(TestFleet.target("/")))
      await server.waitUntilApplied(by: "n")
      await inMemory.close()
      try FileManager.default.removeItem(atPath: bodies)
      try FileManager.default.moveItem(atPath: kept, toPath: bodies)
      let (second, _) = try await open(server, directory, "n")
      #expect(try await get(second).0 == "2")
      await second.close()
      await other.close()
    }
  }

  @Test("Without the tier, a node with a bound of staleness takes all of its entries for invalidated at once")
  func withoutTier() async throws {
    try await withDirectory { server, directory in
      let (first, _) = try await open(server, directory, "n")
      #expect(try await get(first).0 == "1")
      await first.close()
      let (tier, events) = (LoopbackTier(server), EventLog())
      tier.isAway = true
      var configuration = HTTPCache.Configuration(
        directory: directory, rules: CacheRules(mode: .shared), observer: events, clock: clock)
      configuration.shared = tier
      configuration.fleet = FleetOptions(nodeName: "n", stalenessBound: .seconds(3_600))
      let second = try HTTPCache.open(configuration)
      await events.wait { if case .selectionInvalidated(.all, count: _) = $0 { true } else { false } }
      #expect(gaps(events) == [.stalenessBound])
      #expect(try await get(second).0 == "2")
      await second.close()
    }
  }

  /// A node over a store that outlives it; the directory keeps the position.
  private func node(
    over store: any CacheStore, _ server: LoopbackServer, _ directory: String
  ) async throws -> (HTTPCache, LoopbackTier) {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    var configuration = HTTPCache.Configuration(
      directory: directory, rules: CacheRules(mode: .shared), clock: clock)
    let tier = LoopbackTier(server)
    configuration.shared = tier
    configuration.fleet.nodeName = "n"
    let cache = HTTPCache(configuration: configuration, store: store)
    #expect(await cache.join(within: .seconds(5)))
    return (cache, tier)
  }

  @Test("A change that the store could not make is made after the restart")
  func failedChange() async throws {
    for operation in [StoreOperation.remove, .invalidate] {
      try await withDirectory { server, directory in
        let store = FaultyStore(MemoryStore(capacity: 1 << 20, clock: clock))
        let (other, _) = try await open(server, nil, "other")
        let (first, _) = try await node(over: store, server, directory)
        let text = try await get(first, "/a").0
        store.fail(operation, times: .max)
        let selection = CacheSelection.target(TestFleet.target("/a"))
        if operation == .remove {
          try await other.remove(selection)
        } else {
          _ = try await other.invalidate(selection)
        }
        await server.waitUntilApplied(by: "n")
        await first.close()
        store.heal()
        let (second, _) = try await node(over: store, server, directory)
        #expect(try await get(second, "/a").0 != text)
        await second.close()
        await other.close()
      }
    }
  }

  @Test("Changes that were read before the cache closes are applied")
  func closing() async throws {
    try await withDirectory { server, directory in
      let store = GatedStore(MemoryStore(capacity: 1 << 20, clock: clock))
      let (other, _) = try await open(server, nil, "other")
      let (first, tier) = try await node(over: store, server, directory)
      for path in ["/a", "/b"] { _ = try await get(first, path) }
      let gate = Gate()
      tier.onCall = { name in if name == "changes" { try? await gate.pass() } }
      try await other.remove(.target(TestFleet.target("/x")))
      await gate.waitForArrivals(1)
      store.holdsRemovals = true
      // The node reads both at once. Its store holds the first until the node stops.
      for path in ["/a", "/b"] { try await other.remove(.target(TestFleet.target(path))) }
      gate.open()
      await store.gate.waitForArrivals(1)
      await first.close()
      let (second, _) = try await node(over: store.base, server, directory)
      #expect(try await get(second, "/a").0 == "3")
      #expect(try await get(second, "/b").0 == "4")
      await second.close()
      await other.close()
    }
  }

  @Test("A response that was asked for before the first connection, and that a change overtook, is not used")
  func firstConnection() async throws {
    let server = LoopbackServer(clock: clock)
    let (other, _) = try await open(server, nil, "other")
    let (tier, gate) = (LoopbackTier(server), Gate())
    tier.onCall = { name in if name == "state" { try? await gate.pass() } }
    var configuration = HTTPCache.Configuration(rules: CacheRules(mode: .shared), clock: clock)
    configuration.shared = tier
    let cache = try HTTPCache.open(configuration)
    origin.hold()
    let old = Task { try await get(cache) }
    await origin.arrived(1)
    try await other.remove(.target(TestFleet.target("/")))
    gate.open()
    #expect(await cache.join(within: .seconds(5)))
    origin.release()
    #expect(try await old.value.0 == "1")
    #expect(try await get(cache).0 == "2")
    await cache.close()
    await other.close()
  }

  #if Crypto
    @Test("A node with an encrypted directory hands out no file in the clear")
    func handsOutNoFile() async throws {
      try await withDirectory { server, directory in
        origin.always(200, [.cacheControl: "max-age=600"], "one")
        var configuration = HTTPCache.Configuration(
          directory: directory, rules: CacheRules(mode: .shared), clock: clock)
        configuration.encryption = .key(try EncryptionKey(0..<32))
        configuration.shared = LoopbackTier(server)
        let cache = try HTTPCache.open(configuration)
        #expect(await cache.join(within: .seconds(5)))
        _ = try await get(cache)
        #expect(try await cache.file(for: TestFleet.request("/")) == nil)
        #expect(try await cache.file(for: TestFleet.request("/"), writesMemoryOnly: true) != nil)
        await cache.close()
      }
    }
  #endif

  @Test("A damaged position is no position")
  func damaged() {
    let saved = SavedPosition(
      nonce: "nonce-1", read: ReadPosition(position: SharedPosition(time: 5, number: 6), entry: 7))
    #expect(SavedPosition(bytes: saved.bytes) == saved)
    for index in saved.bytes.indices {
      var bytes = saved.bytes
      bytes[index] ^= 1
      #expect(SavedPosition(bytes: bytes) == nil)
      #expect(SavedPosition(bytes: Array(saved.bytes[..<index])) == nil)
    }
    let long = SavedPosition(nonce: String(repeating: "é", count: 200), read: .start)
    #expect(SavedPosition(bytes: long.bytes) == long)
  }
}
