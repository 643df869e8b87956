import HTTPCaching
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10))) struct RedisAddressTests {
  @Test("scheme, user, password, hosts, ports and database are read")
  func parts() throws {
    let plain = try RedisAddress("redis://cache.example.com")
    #expect(plain.endpoints == [RedisEndpoint(host: "cache.example.com", port: 6_379)])
    #expect(!plain.isEncrypted && plain.database == 0 && plain.username == nil && plain.password == nil)
    let full = try RedisAddress("REDISS://n%40me:p%2Fa%3Ass@10.0.0.1:6380/3")
    #expect(full.endpoints == [RedisEndpoint(host: "10.0.0.1", port: 6_380)])
    #expect(full.isEncrypted && full.database == 3 && full.username == "n@me" && full.password == "p/a:ss")
    let password = try RedisAddress("redis://:secret@[::1]:7000/")
    #expect(password.endpoints == [RedisEndpoint(host: "::1", port: 7_000)])
    #expect(password.username == nil && password.password == "secret")
    let cluster = try RedisAddress("redis://a:7001,b:7002,a:7001,[fe80::1%25eth0]")
    #expect(cluster.endpoints.map(\.description) == ["a:7001", "b:7002", "[fe80::1%25eth0]:6379"])
  }

  @Test("printing an address shows no user and no password")
  func printing() throws {
    let address = try RedisAddress("rediss://alice:s3cret@h:1/2")
    #expect(address.description == "rediss://h:1/2")
    var dumped = ""
    dump(address, to: &dumped)
    let configuration = RedisTier.Configuration(address: address, secret: Array("0123456789".utf8))
    dump(configuration, to: &dumped)
    for text in [dumped, "\(address)", String(reflecting: address), "\(configuration)"] {
      #expect(!text.contains("s3cret") && !text.contains("alice") && !text.contains("48"))
    }
  }

  @Test(
    "any other text is refused with a reason that has nothing of the password",
    arguments: [
      "", "redis:", "redis://", "http://h", "h:6379", "redis://s3cret@h", "redis://u:@h", "redis://u:s3cret@",
      "redis://u:s3cret%@h", "redis://u:s3cret%4@h", "redis://u:s3cret%GG@h", "redis://u:s3cret%FF@h",
      "redis://h:", "redis://h:0", "redis://h:65536", "redis://h:+1", "redis://h:-1", "redis://h:1x",
      "redis://h:1:2",
      "redis://::1", "redis://[::1", "redis://[::1]x", "redis://[]:1", "redis://[h]", "redis://h/x",
      "redis://h/-1",
      "redis://h/+1", "redis://h/65536", "redis://h/1/2", "redis://h,", "redis://,h", "redis://h,,g",
      "redis://a,b/1",
      "redis://u:s3cret@h?x=1", "redis://u:s3cret#x@h", "redis://h h", "redis://h\r\nSET", "redis://h\0",
      "redis://höst",
      "redis://" + String(repeating: "h", count: 256), "redis://" + String(repeating: "h,", count: 64) + "h",
      "redis://u:s3cret@" + String(repeating: "h", count: 9_000),
      "redis://h/" + String(repeating: "9", count: 40),
    ])
  func hostile(text: String) {
    // Equal hosts count, too: the list is bounded before it is read.
    #expect { try RedisAddress(text) } throws: { error in
      let error = error as? SharedTierError
      return error?.kind == .refused && error?.message.contains("s3cret") == false
        && (error?.message.utf8.count ?? .max) < 200
    }
  }

  @Test(
    "a configuration that cannot be used is refused",
    arguments: [
      { $0.name = "" }, { $0.name = "a:b" }, { $0.name = "a*" }, { $0.name = "{a}" }, { $0.name = "ä" },
      { $0.name = String(repeating: "a", count: 65) }, { $0.secret = [UInt8](repeating: 1, count: 31) },
      { $0.largestBody = -1 }, { $0.largestBody = .max },
      { configuration in
        if let address = try? RedisAddress("rediss://h") { configuration.address = address }
        configuration.trustRoots = .file(path: "/nonexistent.pem")
      },
    ] as [@Sendable (inout RedisTier.Configuration) -> Void])
  func configurations(change: @Sendable (inout RedisTier.Configuration) -> Void) throws {
    var configuration = RedisTier.Configuration(address: try RedisAddress("redis://h"), secret: Sample.secret)
    _ = try RedisTier(configuration)
    change(&configuration)
    #expect { _ = try RedisTier(configuration) } throws: { ($0 as? SharedTierError)?.kind == .refused }
  }
}
