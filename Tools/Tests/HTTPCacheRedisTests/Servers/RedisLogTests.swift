import HTTPCacheStore
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisLogTests {
  private func change(
    _ uid: String, _ kind: SharedChange.Kind = .invalidate,
    _ selection: CacheSelection = .target("https://e/a")
  ) -> SharedChange {
    SharedChange(uid: uid, kind: kind, selection: selection)
  }

  @Test("a position above all others is kept; a lower one, and one in use, is the next by the server's clock")
  func positions() async throws {
    try await withTier { tier, _ in
      let future = SharedPosition(time: 9_000_000_000_000, number: 5)
      #expect(try await tier.add(change("a"), at: future) == future)
      #expect(try await tier.add(change("b"), at: nil) == SharedPosition(time: future.time, number: 6))
      #expect(try await tier.add(change("c"), at: future) == SharedPosition(time: future.time, number: 7))
      let low = try await tier.add(change("d"), at: SharedPosition(time: 1, number: 1))
      #expect(low == SharedPosition(time: future.time, number: 8))
    }
  }

  @Test(
    "positions rise although the log was lost and the table was not; every node is told to invalidate everything"
  )
  func lostLog() async throws {
    try await withTier { tier, server in
      let nonce = try await tier.state().nonce
      let future = SharedPosition(time: 9_000_000_000_000, number: 5)
      _ = try await tier.add(change("a"), at: future)
      #expect(try await tier.changes(after: .start, waitingFor: .zero, limit: 9).nonce == nonce)
      try await server.send("DEL", String(decoding: tier.keys.log, as: UTF8.self))
      #expect(try await tier.changes(after: .start, waitingFor: .zero, limit: 9).nonce.isEmpty)
      let state = try await tier.state()
      // The first entry tells of the gap.
      #expect(state.log.count == 2 && state.log[0].position > future && state.log[0].change == nil)
      #expect(state.log[1].change?.selection == .all && state.log[1].change?.kind == .invalidate)
      #expect(
        try await tier.changes(after: state.log[1].position, waitingFor: .zero, limit: 9).nonce == nonce)
      #expect(try await tier.state().log.count == 2)
    }
  }

  @Test(
    "a log that was lost, and to which a change was added since, begins with an invalidation of everything")
  func lostLogThenChange() async throws {
    try await withTier { tier, server in
      _ = try await tier.state()
      _ = try await tier.add(change("a"), at: nil)
      let last = try await tier.add(change("b"), at: nil)
      try await server.send("DEL", String(decoding: tier.keys.log, as: UTF8.self))
      let added = try await tier.add(change("c"), at: last)
      let state = try await tier.state()
      // A change that cannot be read is an invalidation of everything.
      #expect(state.log.map(\.change) == [nil, change("c")])
      #expect(state.log[0].position > last && state.log[1].position == added)
      #expect(state.scopes[0] == state.log[0].position)
    }
  }

  @Test("without the table there is no nonce, and the next state has another one")
  func lostTable() async throws {
    try await withTier { tier, server in
      let nonce = try await tier.state().nonce
      let added = try await tier.add(change("a"), at: nil)
      try await server.send("FLUSHALL")
      #expect(try await tier.changes(after: added, waitingFor: .zero, limit: 9).nonce.isEmpty)
      let state = try await tier.state()
      #expect(!state.nonce.isEmpty && state.nonce != nonce && state.log.isEmpty)
      // Responses that another server of a cluster still has do not pass for up to date.
      #expect(Array(state.scopes.keys) == [0] && (state.scopes[0] ?? .start) > .start)
      #expect(try await tier.changes(after: .start, waitingFor: .zero, limit: 9).nonce == state.nonce)
    }
  }

  @Test("a log that was cut says so")
  func cut() async throws {
    try await withTier { tier, server in
      for number in 0..<3 { _ = try await tier.add(change("\(number)"), at: nil) }
      #expect(try await tier.state().isCut == false)
      try await server.send("XTRIM", String(decoding: tier.keys.log, as: UTF8.self), "MAXLEN", "2")
      let state = try await tier.state()
      #expect(state.isCut && state.log.map { $0.change?.uid } == ["1", "2"])
    }
  }

  @Test("the log keeps about 10,000 changes")
  func length() async throws {
    try await withTier { tier, server in
      let log = String(decoding: tier.keys.log, as: UTF8.self)
      let fill =
        "for i = 1, 12000 do redis.call('XADD', KEYS[1], '*', 'u', i, 'k', 'x', 's', '') end return 1"
      try await server.send("EVAL", fill, "1", log)
      _ = try await tier.add(change("a"), at: nil)
      let length = try #require(try await server.send("XLEN", log).number)
      #expect((10_000...10_200).contains(length))
      let state = try await tier.state()
      #expect(state.isCut && state.log.count == Int(length) && state.log.last?.change == change("a"))
      #expect(state.log.first?.change == nil)
    }
  }

  @Test("a selection is in the log, a long one as one that covers it: its origin, or everything")
  func selections() async throws {
    let long = String(repeating: "x", count: 16_000)
    let (target, origin) = ("https://e/\(long)", CacheSelection.prefix("https://e/"))
    let selections: [(CacheSelection, CacheSelection)] = [
      (.target(target), origin), (.prefix(target), origin),
      (.key(Sample.key("/\(long)")), .prefix("https://example.com/")),
      (.group(origin: "https://e", name: long), origin), (.partition(mode: .shared, long), .all),
      (.site(origin: "https://e", mode: .shared, partition: long), origin),
      (.prefix("https://\(long)"), .all), (.target("https://\(long)/a"), .all),
      (.target("https://e/\(long.prefix(2_000))"), .target("https://e/\(long.prefix(2_000))")),
    ]
    let short = SelectionCodecTests.selections.map { ($0, $0) }
    try await withTier { tier, _ in
      for (index, selection) in (selections + short).enumerated() {
        let added = try await tier.add(change("\(index)", .remove, selection.0), at: nil)
        let read = try await tier.state()
        let logged = try #require(read.log.last)
        #expect(logged.position == added && logged.change?.uid == "\(index)")
        #expect(logged.change?.selection == selection.1)
        #expect(logged.change?.scopeClasses.allSatisfy { read.scopes[$0] == added } == true)
      }
    }
  }

  @Test("a log of more bytes than one reply may have is read in pages")
  func pages() async throws {
    let server = try await RedisServer.start(["--maxmemory", "256mb"])
    let tier = try server.tier()
    let log = String(decoding: tier.keys.log, as: UTF8.self)
    let fill =
      "local s = string.rep('x', 16384) for i = 1, 4200 do redis.call('XADD', KEYS[1], '1-' .. i, 'u', i, 'k', 'x', 's', s) end return 1"
    try await server.send("EVAL", fill, "1", log)
    _ = try await tier.add(change("a"), at: nil)
    let state = try await tier.state()
    #expect(!state.isCut && state.log.count == 4_201 && state.log.last?.change == change("a"))
    #expect(state.log.map(\.position) == state.log.map(\.position).sorted())
    let read = try await tier.changes(after: .start, waitingFor: .seconds(60), limit: 4_097)
    #expect(read.entries == Array(state.log.prefix(4_097)) && read.nonce == state.nonce)
  }

  @Test("changes of unknown kinds, and what is no change, are entries without a change")
  func foreign() async throws {
    try await withTier { tier, server in
      let log = String(decoding: tier.keys.log, as: UTF8.self)
      _ = try await tier.state()
      for fields in [
        ["k", "remove"], ["u", "a", "k", "dance", "s", "\0"], ["u", "a", "k", "remove", "s", "\u{7f}"],
      ] {
        try await RedisServer.send(["XADD", log, "*"] + fields, port: server.port)
      }
      let read = try await tier.changes(after: .start, waitingFor: .zero, limit: 9)
      #expect(read.entries.map(\.change) == [nil, nil, nil])
    }
  }

  @Test(
    "changes are read over the connection of the state alone: after each new connection they throw until then"
  )
  func connections() async throws {
    try await withTier { tier, server in
      func kind() async -> SharedTierError.Kind? {
        // A wait without a change is no error.
        let error = await tierError {
          _ = try await tier.changes(after: .start, waitingFor: .milliseconds(20), limit: 1)
        }
        return error?.kind
      }
      #expect(await kind() == .unreachable)
      _ = try await tier.state()
      #expect(await kind() == nil)
      try await server.send("CLIENT", "KILL", "TYPE", "normal")
      try await eventually { await kind() == .unreachable }
      // Another question connects, once its lane has seen the end of the old connection, and still the changes throw.
      try await eventually { await tierError { _ = try await tier.find([Sample.key()]) } == nil }
      #expect(await kind() == .unreachable)
      _ = try await tier.state()
      #expect(await kind() == nil)
    }
  }

  @Test(
    "nodes that told of themselves lately are listed, by name; old ones are forgotten when there are many")
  func nodes() async throws {
    try await withTier { tier, server in
      let position = SharedPosition(time: 3, number: 4)
      for name in ["b", "a|x"] { try await tier.report(SharedNode(name: name, applied: position, seen: 0)) }
      let now = try await tier.find([Sample.key()]).now
      let nodes = try await tier.nodes()
      #expect(
        nodes.map(\.name) == ["a|x", "b"] && nodes.allSatisfy { $0.applied == position && $0.seen <= now })
      let table = String(decoding: tier.keys.nodes, as: UTF8.self)
      let old = (0..<70).flatMap { ["old\($0)", "1-1|\(now - 4_000_000)"] }
      try await RedisServer.send(
        ["HSET", table, "silent", "1-1|\(now - 20_000)"] + old, port: server.port)
      #expect(try await tier.nodes().map(\.name) == ["a|x", "b"])
      try await tier.report(SharedNode(name: "b", applied: position, seen: 0))
      #expect(try await server.send("HLEN", table) == .integer(3))
    }
  }
}
