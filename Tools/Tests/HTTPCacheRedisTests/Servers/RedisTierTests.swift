import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import NIOPosix
import ServerTesting
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisTierTests {
  @Test("a body in parts is read back, and is gone as a whole")
  func bodies() async throws {
    try await withTier { tier, server in
      let body = SharedBody(id: .max, length: Int64(SharedBody.partSize) * 2 + 5)
      for number in 0..<body.partCount {
        try await tier.write(Sample.part(number, of: body), part: number, of: body, for: Sample.key())
      }
      let parts = try #require(try await tier.parts(0..<3, of: body, for: Sample.key()))
      #expect(parts == (0..<3).map { Sample.part($0, of: body) })
      #expect(try await tier.parts(1..<1, of: body, for: Sample.key()) == [])
      #expect(try await tier.parts(2..<4, of: body, for: Sample.key()) == nil)
      let name = tier.keys.names(of: Sample.key()).body(RedisRecord.text(ofBody: body.id))
      try await server.send("UNLINK", String(decoding: name, as: UTF8.self))
      #expect(try await tier.parts(0..<1, of: body, for: Sample.key()) == nil)
    }
  }

  @Test("a part that is not whole is no part, and an unpublished body goes by itself")
  func damagedParts() async throws {
    try await withTier { tier, server in
      let body = SharedBody(id: 3, length: 10)
      try await tier.write([UInt8](repeating: 1, count: 10), part: 0, of: body, for: Sample.key())
      let name = String(decoding: tier.keys.names(of: Sample.key()).body("0000000000000003"), as: UTF8.self)
      let lifetime = try #require(try await server.send("PTTL", name).number)
      #expect((1...60_000).contains(lifetime))
      try await server.send("HSET", name, "0", "short")
      #expect(try await tier.parts(0..<1, of: body, for: Sample.key()) == nil)
      await #expect(throws: SharedTierError.self) {
        try await tier.write([1], part: 0, of: body, for: Sample.key())
      }
      await #expect(throws: SharedTierError.self) {
        try await tier.write([1], part: 1, of: body, for: Sample.key())
      }
    }
  }

  @Test("a record, or a body in it, that is too long is not published")
  func tooLong() async throws {
    try await withTier { tier, _ async throws in
      let long = [UInt8](repeating: 1, count: SharedVariant.longestInlineBody + 1)
      #expect(try await tier.publish(Sample.publication(Sample.variant(inline: long))) == false)
      let record = Sample.record(Sample.key()).with(
        userInfo: [UInt8](repeating: 1, count: RedisRecord.longest))
      let variant = SharedVariant(
        record: record, age: 0, published: 0, ticket: .start, inlineBody: [], body: nil)
      #expect(try await tier.publish(Sample.publication(variant)) == false)
      #expect(try await tier.find([Sample.key()]).variants[0].isEmpty)
    }
  }

  @Test(
    "a response with a later Date stays, unless the new one was asked for after a change that it has not seen"
  )
  func recency() async throws {
    try await withTier { tier, _ in
      func publish(date: Int64, ticket: UInt64) async throws -> Bool {
        let variant = Sample.variant(
          date: 1_700_000_000 + date, ticket: SharedPosition(time: ticket, number: 0))
        let stored = try await tier.find([Sample.key()]).variants[0].first
        let isPublished = try await tier.publish(Sample.publication(variant))
        // The rule of the protocol.
        #expect(isPublished == (stored.map { !$0.isMoreRecent(than: variant) } ?? true))
        return isPublished
      }
      let first = try await publish(date: 10, ticket: 5)
      #expect(first)
      #expect(try await publish(date: 9, ticket: 5) == false)
      #expect(try await publish(date: 9, ticket: 4) == false)
      #expect(try await publish(date: 10, ticket: 4))
      #expect(try await publish(date: 10, ticket: 5))
      #expect(try await publish(date: 9, ticket: 6))
      #expect(try await publish(date: 11, ticket: 1))
    }
  }

  @Test("variants by Vary are kept beside each other; the ninth takes the place of the first")
  func variants() async throws {
    try await withTier { tier, server in
      for number in 0..<9 {
        #expect(try await tier.publish(Sample.publication(Sample.variant(language: "l\(number)"))))
        // The order is by milliseconds of the server.
        let time = try await tier.find([Sample.key()]).now
        try await eventually { try await tier.find([Sample.key()]).now > time }
      }
      let languages = try await tier.find([Sample.key()]).variants[0].map {
        $0.record.response.nominated[0].value
      }
      #expect(Set(languages) == Set((1..<9).map { .text("l\($0)") }))
      let fields = try await server.send(
        "HLEN", String(decoding: tier.keys.names(of: Sample.key()).variants, as: UTF8.self))
      #expect(fields == .integer(8))
    }
  }

  @Test("the lifetime of a response only rises, and a body that is found no longer goes soon")
  func lifetimes() async throws {
    try await withTier { tier, server in
      func lifetime(_ name: [UInt8]) async throws -> Int64 {
        try await server.send("PTTL", String(decoding: name, as: UTF8.self)).number ?? 0
      }
      let names = tier.keys.names(of: Sample.key())
      let bodies = [SharedBody(id: 1, length: 3), SharedBody(id: 2, length: 3)]
      for body in bodies {
        try await tier.write([1, 2, 3], part: 0, of: body, for: Sample.key())
        let variant = Sample.variant(body: body)
        #expect(try await tier.publish(Sample.publication(variant, lifetime: .seconds(600))))
        #expect(try await tier.publish(Sample.publication(variant, lifetime: .seconds(5))))
        #expect(try await lifetime(names.variants) > 500_000)
        #expect(try await lifetime(names.body(RedisRecord.text(ofBody: body.id))) > 500_000)
      }
      #expect((1...60_000).contains(try await lifetime(names.body(RedisRecord.text(ofBody: 1)))))
    }
  }

  @Test(
    "variants of other secrets, keys and versions, and damaged ones, are not found; others beside them are")
  func foreign() async throws {
    try await withTier {
      $0.secret = Sample.secret
    } _: { tier, server in
      #expect(try await tier.publish(Sample.publication(Sample.variant())))
      let name = String(decoding: tier.keys.names(of: Sample.key()).variants, as: UTF8.self)
      let all = try #require(try await server.send("HGETALL", name).elements)
      let value = try #require(all[1].bytes)
      let connection = RedisNode(
        RedisEndpoint(host: "127.0.0.1", port: server.port),
        RedisSettings(
          username: nil, password: nil, database: 0, tls: nil, group: .singletonMultiThreadedEventLoopGroup,
          limits: .long))
      var damaged: [[UInt8]] = [[], [1], Array(value.dropLast()), [UInt8(ascii: "2")] + value.dropFirst()]
      for place in stride(from: 0, to: value.count, by: 5) {
        damaged.append(value[..<place] + [value[place] ^ 0x41] + value[(place + 1)...])
      }
      for (number, bytes) in damaged.enumerated() {
        let command: RedisCommand = ["HSET", .text(name), "x\(number % 5)", .bytes(bytes)]
        _ = try await connection.send([command], on: .questions, by: RedisDeadline(.seconds(60)))
        let found = try await tier.find([Sample.key()]).variants[0]
        // Without encryption, nothing protects the age and the digits of the header.
        #expect(found.contains { $0.inlineBody == Array("hello".utf8) })
        #expect(found.allSatisfy { $0.record.key == Sample.key() })
      }
      let other = try server.tier { $0.secret = [UInt8](repeating: 8, count: 32) }
      #expect(try await other.find([Sample.key()]).variants[0].isEmpty)
      connection.close()
    }
  }

  @Test("a wipe removes the responses of a partition, and no other")
  func wiping() async throws {
    try await withTier { tier, server in
      for number in 0..<300 {
        let partition = number % 3 == 0 ? "gone" : ""
        #expect(
          try await tier.publish(
            Sample.publication(Sample.variant(Sample.key("/\(number)", partition: partition)))))
      }
      let body = SharedBody(id: 4, length: 3)
      try await tier.write([1, 2, 3], part: 0, of: body, for: Sample.key(partition: "gone"))
      try await tier.wipe(mode: .private, partition: "gone")
      #expect(try await server.send("DBSIZE") == .integer(301))
      try await tier.wipe(mode: .shared, partition: "gone")
      #expect(try await server.send("DBSIZE") == .integer(200))
      #expect(try await tier.find([Sample.key("/1")]).variants[0].count == 1)
      #expect(try await tier.find([Sample.key("/0", partition: "gone")]).variants[0].isEmpty)
      #expect(try await tier.parts(0..<1, of: body, for: Sample.key(partition: "gone")) == nil)
    }
  }
}
