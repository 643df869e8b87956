import HTTPTypes
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("What the origin of a gateway is told of the client (RFC 7239)", .timeLimit(.minutes(10)))
struct ForwardedFieldTests {
  private let forged =
    "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Port: 666\r\n"
    + "Forwarded: for=6.6.6.6;host=evil\r\nX_Forwarded_Host: evil\r\nX.Forwarded.Host: evil\r\nX-Forwarded: 666\r\nX-Real-IP: 6.6.6.6\r\n"

  @Test("the proxy sets the fields, and drops a client's own")
  func set() async throws {
    try await withProxy { proxy in
      let head = try await proxy.miss("/", fields: forged, host: "www.example.com:8080")
      #expect(field("X-Forwarded-For", in: head) == "127.0.0.1")
      #expect(field("X-Forwarded-Host", in: head) == "www.example.com:8080")
      #expect(field("X-Forwarded-Proto", in: head) == "http")
      #expect(field("Forwarded", in: head) == "for=127.0.0.1;host=\"www.example.com:8080\";proto=http")
      #expect(!head.contains("evil"))
      #expect(!head.contains("6.6.6.6"))
      #expect(!head.contains("666"))
      #expect(field("Host", in: head) == "127.0.0.1:\(proxy.origin.port)")
    }
  }

  @Test("a forward proxy drops the fields and sets none")
  func forward() async throws {
    try await withProxy(forward: ForwardRules()) { proxy in
      let host = "127.0.0.1:\(proxy.origin.port)"
      let head = try await proxy.miss("http://\(host)/", fields: forged, host: host)
      #expect(!head.lowercased().contains("forwarded"))
      #expect(!head.contains("6.6.6.6"))
    }
  }

  @Test("the fields of a trusted proxy count, with the proxy's address added")
  func trusted() async throws {
    let range = try #require(AddressRange("127.0.0.0/8"))
    try await withProxy(configure: { $0.trustedForwarders = [range] }) { proxy in
      let head = try await proxy.miss(
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

  @Test("what a trusted proxy tells in one form is told in the other one too (RFC 7239 §7.4)")
  func converted() async throws {
    let range = try #require(AddressRange("127.0.0.0/8"))
    try await withProxy(configure: { $0.trustedForwarders = [range] }) { proxy in
      let old = try await proxy.miss(
        "/",
        fields: "X-Forwarded-For: 192.0.2.7, 2001:db8::8\r\nX-Forwarded-Host: www.example.com\r\n"
          + "X-Forwarded-Proto: https\r\n", host: "inner")
      #expect(
        field("Forwarded", in: old)
          == "for=192.0.2.7;host=www.example.com;proto=https, for=\"[2001:db8::8]\", "
          + "for=127.0.0.1;host=inner;proto=http")
      #expect(field("X-Forwarded-For", in: old) == "192.0.2.7, 2001:db8::8, 127.0.0.1")
      let schemeAlone = try await proxy.miss("/", fields: "X-Forwarded-Proto: https\r\n", host: "inner")
      #expect(
        field("Forwarded", in: schemeAlone)
          == "for=unknown;host=inner;proto=https, for=127.0.0.1;host=inner;proto=http")
      let new = try await proxy.miss(
        "/", fields: "Forwarded: for=\"[2001:db8::7]:80\";proto=https;host=www.example.com, for=_hidden\r\n",
        host: "inner")
      #expect(field("X-Forwarded-For", in: new) == "2001:db8::7, unknown, 127.0.0.1")
      #expect(field("X-Forwarded-Proto", in: new) == "https")
      #expect(field("X-Forwarded-Host", in: new) == "www.example.com")
      let mixed = try await proxy.miss(
        "/",
        fields: "X-Forwarded-Host: www.example.com\r\nX-Forwarded-Proto: https\r\n"
          + "Forwarded: for=192.0.2.7, for=192.0.2.8\r\n", host: "inner")
      #expect(
        field("Forwarded", in: mixed)
          == "for=192.0.2.7;host=www.example.com;proto=https, for=192.0.2.8, "
          + "for=127.0.0.1;host=inner;proto=http")
      #expect(field("X-Forwarded-For", in: mixed) == "192.0.2.7, 192.0.2.8, 127.0.0.1")
      let schemeInOne = try await proxy.miss(
        "/",
        fields: "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n"
          + "Forwarded: for=192.0.2.7;host=\"www.example.com:81\"\r\n", host: "inner")
      #expect(
        field("Forwarded", in: schemeInOne)
          == "for=192.0.2.7;host=\"www.example.com:81\";proto=https, for=127.0.0.1;host=inner;proto=http")
      let none = try await proxy.miss("/", host: "inner")
      #expect(field("Forwarded", in: none) == "for=127.0.0.1;host=inner;proto=http")
    }
  }

  @Test(
    "a request comes from the last address that trusted proxies name and that is not theirs",
    arguments: [
      ("X-Forwarded-For: 192.0.2.7", "192.0.2.7"), ("X-Forwarded-For: 6.6.6.6, 192.0.2.7", "192.0.2.7"),
      ("X-Forwarded-For: 6.6.6.6, 192.0.2.7, 10.0.0.2", "192.0.2.7"),
      ("X-Forwarded-For: 10.0.0.2", "10.0.0.2"),
      ("X-Forwarded-For: 192.0.2.7:4711", "192.0.2.7"), ("X-Forwarded-For: [2001:db8::7]:80", "2001:db8::7"),
      ("X-Forwarded-For: 2001:db8::7", "2001:db8::7"),
      ("X-Forwarded-For: 6.6.6.6, unknown, 10.0.0.2", "10.0.0.2"),
      ("X-Forwarded-For: nonsense", "10.0.0.1"),
      ("Forwarded: for=6.6.6.6, for=192.0.2.7;proto=https", "192.0.2.7"),
      ("Forwarded: for=\"[2001:db8::7]:80\"", "2001:db8::7"), ("Forwarded: proto=https", "10.0.0.1"),
      ("X: y", "10.0.0.1"),
    ])
  func source(_ line: String, _ expected: String) throws {
    let parts = line.split(separator: ":", maxSplits: 1)
    let name = try #require(HTTPField.Name(String(parts[0])))
    let fields: HTTPFields = [name: parts[1].drop { $0 == " " }.description]
    let trusted = try #require(AddressRange("10.0.0.0/8"))
    let behind = ClientSide(address: IPAddress("10.0.0.1"), isSecure: false, trusted: [trusted])
    #expect(behind.sourceText(of: fields) == expected)
    let direct = ClientSide(address: IPAddress("192.0.2.1"), isSecure: false, trusted: [trusted])
    #expect(direct.sourceText(of: fields) == "192.0.2.1")
  }

  @Test("the host that the origin is told is a part of the key")
  func hosts() async throws {
    try await withProxy(cache: try memoryCache()) { proxy in
      try await proxy.miss("/", host: "evil.example", answer: "for evil")
      try await proxy.miss("/", host: "good.example", answer: "for good")
      #expect(try await proxy.hit("/", host: "good.example").hasSuffix("for good"))
      #expect(try await proxy.hit("/", host: "EVIL.example:80").hasSuffix("for evil"))
    }
  }

  @Test(
    "a trusted proxy that contradicts itself is served past the cache",
    arguments: [
      "X-Forwarded-Host: a\r\nForwarded: host=b\r\n", "Forwarded: host=a;host=b\r\n",
      "X-Forwarded-Proto: http\r\nForwarded:\r\nForwarded: for=_a, proto=https\r\n",
      "Forwarded: for=\"x, host=b\"\r\nForwarded: host=c\r\n", "Forwarded: for=\"x;host=b\"\r\n",
      "Forwarded: for=\"\\\"\", host=b\r\n", "Forwarded: for=\"x\r\n", "Forwarded: host=\"\"\r\n",
      "Forwarded: host=a/\r\n", "Forwarded: proto=gopher\r\n", "Forwarded: for=_a;\thost=a;\thost=b\r\n",
    ])
  func ambiguous(_ fields: String) async throws {
    let range = try #require(AddressRange("127.0.0.1"))
    try await withProxy(cache: try memoryCache(), configure: { $0.trustedForwarders = [range] }) { proxy in
      try await proxy.miss("/", fields: fields)
      try await proxy.miss("/", fields: fields)
    }
  }

  @Test(
    "the lines of Forwarded are one list: the first host and scheme in it are those of the key (RFC 9110 §5.3, §5.6.1.2)",
    arguments: [
      "Forwarded:\r\nForwarded: for=192.0.2.7;host=b;proto=https\r\n",
      "Forwarded: ,\r\nForwarded: for=192.0.2.7;host=b;proto=https\r\n",
      "Forwarded: for=192.0.2.7, for=192.0.2.8;host=b\r\nForwarded: proto=https\r\n",
    ])
  func oneList(_ lines: String) async throws {
    let range = try #require(AddressRange("127.0.0.1"))
    try await withProxy(cache: try memoryCache(), configure: { $0.trustedForwarders = [range] }) { proxy in
      let head = try await proxy.miss("/", fields: lines, host: "a", answer: "of b")
      #expect(field("X-Forwarded-Host", in: head) == "b" && field("X-Forwarded-Proto", in: head) == "https")
      try await proxy.miss("/", host: "a", answer: "of a")
      #expect(
        try await proxy.hit("/", fields: "Forwarded: host=b;proto=https\r\n", host: "a").hasSuffix("of b"))
      #expect(try await proxy.hit("/", host: "a").hasSuffix("of a"))
      let empty = try await proxy.miss("/empty", fields: "Forwarded:\r\nX-Forwarded-Host: c\r\n", host: "a")
      #expect(
        field("Forwarded", in: empty) == "for=unknown;host=c;proto=http, for=127.0.0.1;host=a;proto=http")
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
    try await withProxy(cache: try memoryCache(), configure: { $0.preserveHost() }) { proxy in
      let head = try await proxy.miss("/", host: "www.example.com", answer: "stored")
      #expect(field("Host", in: head) == "www.example.com")
      #expect(try await proxy.hit("/", host: "www.example.com").hasSuffix("stored"))
    }
  }
}
