import HTTPTypes
import Testing

@testable import HTTPCacheProxy

@Suite("What the origin of a gateway is told of the client (RFC 7239)", .timeLimit(.minutes(10)))
struct ForwardedFieldTests {
  private let forged =
    "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Port: 666\r\n"
    + "Forwarded: for=6.6.6.6;host=evil\r\nX_Forwarded_Host: evil\r\nX.Forwarded.Host: evil\r\nX-Forwarded: 666\r\nX-Real-IP: 6.6.6.6\r\n"

  @Test("the proxy sets the fields, and drops a client's own")
  func set() async throws {
    try await withProxy { fixture in
      let head = try await fixture.miss("/", fields: forged, host: "www.example.com:8080")
      #expect(field("X-Forwarded-For", in: head) == "127.0.0.1")
      #expect(field("X-Forwarded-Host", in: head) == "www.example.com:8080")
      #expect(field("X-Forwarded-Proto", in: head) == "http")
      #expect(field("Forwarded", in: head) == "for=127.0.0.1;host=\"www.example.com:8080\";proto=http")
      #expect(!head.contains("evil"))
      #expect(!head.contains("6.6.6.6"))
      #expect(!head.contains("666"))
      #expect(field("Host", in: head) == "127.0.0.1:\(fixture.origin.port)")
    }
  }

  @Test("a forward proxy drops the fields and sets none")
  func forward() async throws {
    try await withProxy(forward: ForwardRules()) { fixture in
      let host = "127.0.0.1:\(fixture.origin.port)"
      let head = try await fixture.miss("http://\(host)/", fields: forged, host: host)
      #expect(!head.lowercased().contains("forwarded"))
      #expect(!head.contains("6.6.6.6"))
    }
  }

  @Test("the fields of a trusted proxy count, with the proxy's address added")
  func trusted() async throws {
    let range = try #require(AddressRange("127.0.0.0/8"))
    try await withProxy(configure: { $0.trustedForwarders = [range] }) { fixture in
      let head = try await fixture.miss(
        "/",
        fields:
          "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Host: www.example.com\r\nX-Forwarded-Proto: https\r\n"
          + "Forwarded: for=\"[2001:db8::7]\";proto=https;host=www.example.com\r\n", host: "inner")
      #expect(field("X-Forwarded-For", in: head) == "192.0.2.7, 127.0.0.1")
      #expect(field("X-Forwarded-Host", in: head) == "www.example.com")
      #expect(field("X-Forwarded-Proto", in: head) == "https")
      #expect(
        field("Forwarded", in: head)
          == "for=\"[2001:db8::7]\";proto=https;host=www.example.com, for=127.0.0.1;host=inner;proto=http")
    }
  }

  @Test("the host that the origin is told is a part of the key")
  func hosts() async throws {
    try await withProxy(cache: try memoryCache()) { fixture in
      try await fixture.miss("/", host: "evil.example", answer: "for evil")
      try await fixture.miss("/", host: "good.example", answer: "for good")
      #expect(try await fixture.hit("/", host: "good.example").hasSuffix("for good"))
      #expect(try await fixture.hit("/", host: "EVIL.example:80").hasSuffix("for evil"))
    }
  }

  @Test("a trusted proxy that contradicts itself is served past the cache")
  func ambiguous() async throws {
    let range = try #require(AddressRange("127.0.0.1"))
    try await withProxy(cache: try memoryCache(), configure: { $0.trustedForwarders = [range] }) { fixture in
      let fields = "X-Forwarded-Host: a\r\nForwarded: host=b\r\n"
      try await fixture.miss("/", fields: fields)
      try await fixture.miss("/", fields: fields)
    }
  }

  @Test("IPv6 addresses are quoted in Forwarded, and not in X-Forwarded-For")
  func ipv6() throws {
    let client = ClientSide(address: IPAddress("2001:db8::1"), isSecure: true)
    var fields = HTTPFields()
    ForwardedRequest(client, host: Authority("[2001:db8::2]"), fields: fields).add(to: &fields)
    #expect(fields[.xForwardedFor] == "2001:db8::1")
    #expect(fields[.forwarded] == "for=\"[2001:db8::1]\";host=\"[2001:db8::2]\";proto=https")
  }

  @Test("a Host cannot write into Forwarded")
  func hostInjection() throws {
    let client = ClientSide(address: IPAddress("192.0.2.1"), isSecure: false)
    var fields = HTTPFields()
    ForwardedRequest(client, host: Authority("a;for=6.6.6.6,b"), fields: fields).add(to: &fields)
    #expect(fields[.forwarded] == "for=192.0.2.1;host=\"a;for=6.6.6.6,b\";proto=http")
  }

  @Test("with preservesHost the origin gets the client's Host, and is asked at its own address")
  func preservedHost() async throws {
    try await withProxy(cache: try memoryCache(), configure: { $0.preserveHost() }) { fixture in
      let head = try await fixture.miss("/", host: "www.example.com", answer: "stored")
      #expect(field("Host", in: head) == "www.example.com")
      #expect(try await fixture.hit("/", host: "www.example.com").hasSuffix("stored"))
    }
  }
}
