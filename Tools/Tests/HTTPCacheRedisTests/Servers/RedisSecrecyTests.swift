import Foundation
import HTTPCacheSemantics
import HTTPCacheStore
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheRedis

@Suite(.timeLimit(.minutes(10)), .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
struct RedisSecrecyTests {
  private let key = Sample.key("/very-private-path", partition: "visible-account")
  private let inline = Array("visible-inline-body".utf8)
  private let part = Array("visible-part-of-a-body".utf8)

  /// Publishes responses, changes and nodes; then the file to which the server writes all that it has.
  private func dump(_ change: (inout RedisTier.Configuration) -> Void) async throws -> Data {
    let server = try await RedisServer.start(["--rdbcompression", "no"])
    let tier = try server.tier(change)
    #expect(try await tier.publish(Sample.publication(Sample.variant(key, inline: inline))))
    let body = SharedBody(id: 5, length: Int64(part.count))
    try await tier.write(part, part: 0, of: body, for: key)
    #expect(
      try await tier.publish(
        Sample.publication(Sample.variant(key, language: "visible-language", body: body))))
    for selection in [
      .key(key), .prefix("https://example.com/very-private"),
      .group(origin: "https://example.com", name: "g"),
    ]
      as [CacheSelection]
    {
      _ = try await tier.add(SharedChange(uid: "1", kind: .invalidate, selection: selection), at: nil)
    }
    let found = try await tier.find([key]).variants[0]
    #expect(found.count == 2 && found.contains { $0.inlineBody == inline })
    #expect(try await tier.parts(0..<1, of: body, for: key) == [part])
    #expect(try await tier.state().log.map { $0.change?.selection }.contains(.key(key)))
    try await server.send("SAVE")
    return try Data(contentsOf: server.folder.url("dump.rdb"))
  }

  private let words = [
    "example.com", "very-private", "visible", "max-age", "etag", "ETag", "Accept-Language",
  ]

  @Test("an encrypted fleet leaves no URL, field, partition or body in the server's dump; a plain one does")
  func dump() async throws {
    let plain = try await dump { _ in }
    for word in words.dropLast(3) { #expect(plain.range(of: Data(word.utf8)) != nil, "\(word)") }
    let key = EncryptionKey.random()
    for secret in [nil, Sample.secret] {
      let sealed = try await dump {
        $0.encryption = .key(key)
        $0.secret = secret
      }
      for word in words { #expect(sealed.range(of: Data(word.utf8)) == nil, "\(word)") }
    }
  }

  @Test("a sealed variant, part or change in another place is not opened")
  func moved() async throws {
    let server = try await RedisServer.start()
    let secret = EncryptionKey.random()
    let tier = try server.tier { $0.encryption = .key(secret) }
    let other = Sample.key("/other")
    let bodies = [SharedBody(id: 1, length: 3), SharedBody(id: 2, length: 3)]
    for (key, body) in zip([key, other], bodies) {
      try await tier.write([1, 2, 3], part: 0, of: body, for: key)
      #expect(try await tier.publish(Sample.publication(Sample.variant(key, body: body))))
    }
    let (names, otherNames) = (tier.keys.names(of: key), tier.keys.names(of: other))
    func copy(_ from: [UInt8], _ to: [UInt8]) async throws {
      try await server.send(
        "COPY", String(decoding: from, as: UTF8.self), String(decoding: to, as: UTF8.self), "REPLACE")
    }
    try await copy(names.variants, otherNames.variants)
    #expect(try await tier.find([other, key]).variants.map(\.count) == [0, 1])
    try await copy(names.body("0000000000000001"), otherNames.body("0000000000000002"))
    #expect(try await tier.parts(0..<1, of: bodies[1], for: other) == nil)
    #expect(try await tier.parts(0..<1, of: bodies[0], for: key) == [[1, 2, 3]])
    // A longer body: its first part is not its last one.
    try await copy(names.body("0000000000000001"), names.body("0000000000000003"))
    #expect(try await tier.parts(0..<1, of: SharedBody(id: 3, length: 3), for: key) == nil)
    let stranger = try server.tier { $0.encryption = .key(.random()) }
    #expect(try await stranger.find([key]).variants[0].isEmpty)
    _ = try await tier.add(SharedChange(uid: "1", kind: .remove, selection: .key(key)), at: nil)
    #expect(try await stranger.state().log.map(\.change) == [nil])
  }

  @Test("names of keys tell nothing without the secret, and are equal on all nodes")
  func names() throws {
    let keys = RedisKeys(name: "n", secret: Sample.secret)
    #expect(
      RedisKeys(name: "n", secret: Sample.secret).names(of: key).variants == keys.names(of: key).variants)
    #expect(RedisKeys(name: "n", secret: [1]).names(of: key).digest != keys.names(of: key).digest)
    var digests: Set<[UInt8]> = []
    let all = [
      key, key.pointer, key.searchRule, Sample.key("/very-private-path"), key.with(contentDigest: [1]),
    ]
    for key in all { digests.insert(keys.names(of: key).digest) }
    #expect(digests.count == all.count && digests.allSatisfy { $0.count == 16 })
    let names = keys.names(of: key)
    let slots = [names.variants, names.lock, names.body("00")].map { RedisSlot.of($0) }
    #expect(Set(slots).count == 1)
    #expect(
      RedisSlot.of(keys.table) == RedisSlot.of(keys.log) && RedisSlot.of(keys.log) == RedisSlot.of(keys.nodes)
    )
    #expect(String(decoding: names.variants, as: UTF8.self).hasPrefix("hc1:n:i:"))
  }
}

@Suite(
  .timeLimit(.minutes(10)),
  .enabled(
    if: RedisProgram.isInstalled && RedisProgram.openssl != nil, "redis-server or openssl is not installed"))
struct RedisTLSTests {
  /// Makes a certificate for 127.0.0.1 and localhost, and its key: `cert.pem` and `key.pem`.
  private func certificate() async throws -> ScratchFolder {
    let folder = try ScratchFolder()
    let openssl = try #require(RedisProgram.openssl)
    let process = try await TestProcess([
      openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
      "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
      "-out", folder.path("cert.pem"), "-keyout", folder.path("key.pem"),
    ])
    #expect(await process.end() == 0)
    return folder
  }

  @Test("rediss:// talks TLS with a server that it trusts, by address and by name; with no other")
  func tls() async throws {
    let (folder, other) = (try await certificate(), try await certificate())
    let trusted = folder.path("cert.pem")
    let server = try await RedisServer.start(
      [
        "--tls-cert-file", trusted, "--tls-key-file", folder.path("key.pem"),
        "--tls-ca-cert-file", trusted, "--tls-auth-clients", "no", "--requirepass", "pass",
      ], isEncrypted: true)
    for host in ["127.0.0.1", "localhost"] {
      let address = try RedisAddress("rediss://:pass@\(host):\(server.port)")
      let tier = try RedisTier(
        .init(address: address, name: "test", trustRoots: .file(path: trusted)), limits: .long)
      _ = try await tier.state()
      let body = SharedBody(id: 1, length: Int64(SharedBody.partSize))
      try await tier.write(Sample.part(0, of: body), part: 0, of: body, for: Sample.key())
      #expect(try await tier.publish(Sample.publication(Sample.variant(body: body))))
      #expect(try await tier.parts(0..<1, of: body, for: Sample.key()) == [Sample.part(0, of: body)])
      for roots in [.system, .file(path: other.path("cert.pem"))] as [RedisTier.TrustRoots] {
        let stranger = try RedisTier(
          .init(address: address, name: "test", trustRoots: roots), limits: .long)
        #expect(await tierError { _ = try await stranger.state() }?.kind == .refused)
      }
    }
    let plain = try RedisTier(
      .init(address: try RedisAddress("redis://:pass@127.0.0.1:\(server.port)"), name: "test"))
    #expect(await tierError { _ = try await plain.state() } != nil)
    let open = try await RedisServer.start()
    let wrong = try RedisTier(
      .init(
        address: try RedisAddress("rediss://127.0.0.1:\(open.port)"), name: "test",
        trustRoots: .file(path: folder.path("cert.pem"))))
    #expect(await tierError { _ = try await wrong.state() } != nil)
  }
}
