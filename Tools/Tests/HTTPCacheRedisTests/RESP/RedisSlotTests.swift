import HTTPCaching
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10))) struct RedisSlotTests {
  @Test(
    "slots are those of redis-server: CRC16 of the key, or of the text between its first braces",
    arguments: [
      ("", 0), ("123456789", 12_739), ("foo", 12_182), ("{foo}bar", 12_182), ("a{foo}{bar}", 12_182),
      ("{user1000}.following", 3_443), ("foo{}{bar}", 8_363), ("foo{{bar}}zap", 4_015), ("{foo", 13_308),
    ])
  func slots(key: String, slot: Int) { #expect(RedisSlot.of(Array(key.utf8)) == slot) }

  private let asked = RedisEndpoint(host: "h", port: 1)

  @Test("MOVED, ASK and TRYAGAIN are redirections; no other error is one")
  func redirections() {
    func read(_ text: String) -> RedisRedirection? { RedisRedirection(.error(text), askedAt: asked) }
    #expect(read("MOVED 3999 127.0.0.1:6381") == .moved(RedisEndpoint(host: "127.0.0.1", port: 6_381)))
    #expect(read("MOVED 3999 2001:db8::1:6381") == .moved(RedisEndpoint(host: "2001:db8::1", port: 6_381)))
    #expect(read("MOVED 3999 :6381") == .moved(RedisEndpoint(host: "h", port: 6_381)))
    #expect(read("MOVED 3999 ?:6381") == .moved(RedisEndpoint(host: "h", port: 6_381)))
    #expect(read("ASK 3999 a.example:6381") == .ask(RedisEndpoint(host: "a.example", port: 6_381)))
    #expect(read("TRYAGAIN Multiple keys request during rehashing of slot") == .tryAgain)
    for text in [
      "", "MOVED", "MOVED 1", "MOVED 1 h", "MOVED 1 h:", "MOVED 1 h:0", "MOVED 1 h:65536", "MOVED 1 h:x",
      "MOVED 1 h/x:1", "ASK 1 \u{1}:1", "ERR MOVED 1 h:1", "CLUSTERDOWN Hash slot not served",
    ] {
      #expect(read(text) == nil, "\(text)")
    }
    #expect(RedisRedirection(.simple(Array("MOVED 1 h:1".utf8)), askedAt: asked) == nil)
  }

  private func range(_ first: Int64, _ last: Int64, _ host: RESPValue, _ port: Int64) -> RESPValue {
    .array([.integer(first), .integer(last), .array([host, .integer(port), .bulk(Array("id".utf8))])])
  }

  @Test("the map of slots is read; an empty or unknown host is that of the server that was asked")
  func map() throws {
    let reply = RESPValue.array([
      range(0, 5_460, .bulk(Array("a".utf8)), 7_000), range(5_461, 5_461, .bulk([]), 7_001),
      range(10_923, 16_383, .null, 7_002), range(6_000, 6_000, .bulk(Array("?".utf8)), 7_003),
    ])
    let map = try #require(RedisSlotMap(reply, askedAt: asked))
    #expect(map[0]?.description == "a:7000" && map[5_460]?.description == "a:7000")
    #expect(map[5_461]?.description == "h:7001" && map[16_383]?.description == "h:7002")
    #expect(map[6_000]?.description == "h:7003" && map[9_000] == nil)
    #expect(map.endpoints.count == 4)
  }

  @Test("a map that is none is nil, and no number of it ends the process")
  func hostileMaps() {
    let host = RESPValue.bulk(Array("a".utf8))
    for reply in [
      .null, .array([]), .integer(1), .array([.null]), .array([.array([])]),
      .array([range(-1, 5, host, 1)]), .array([range(0, 16_384, host, 1)]), .array([range(5, 4, host, 1)]),
      .array([range(.min, .max, host, 1)]), .array([range(0, 1, host, 0)]), .array([range(0, 1, host, .max)]),
      .array([range(0, 1, .bulk(Array("a b".utf8)), 1)]),
      .array([.array([.integer(0), .integer(1), .array([host])])]),
    ] as [RESPValue] {
      #expect(RedisSlotMap(reply, askedAt: asked) == nil, "\(reply)")
    }
  }
}
