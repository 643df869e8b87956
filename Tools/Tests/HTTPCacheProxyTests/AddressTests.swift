import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Addresses that a forward proxy may connect to", .timeLimit(.minutes(10))) struct AddressTests {
  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  @Test(
    "addresses that are not public are refused, also those that IPv6 carries",
    arguments: [
      "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.0.9", "169.254.169.254", "172.16.0.1",
      "172.31.255.255", "192.168.1.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1",
      "febf::1", "fc00::1", "fdff::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1",
      "64:ff9b::a00:1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2002:c0a8:101::", "2001::1",
      "::ffff:0:127.0.0.1",
    ])
  func refused(_ text: String) throws {
    #expect(try AddressRules().allows(address(text)) == false)
  }

  @Test(
    "public addresses are not",
    arguments: [
      "1.1.1.1", "11.0.0.1", "126.255.255.255", "172.15.0.1", "172.32.0.1", "192.167.0.1", "223.255.255.255",
      "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::", "::ffff:1.1.1.1",
    ])
  func allowed(_ text: String) throws {
    #expect(try AddressRules().allows(address(text)))
  }

  @Test("a range that is allowed is allowed in each form of its addresses, and nothing beside it")
  func exceptions() throws {
    let rules = AddressRules(allowed: [try #require(AddressRange("10.1.0.0/16"))])
    for text in ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203"] {
      #expect(try rules.allows(address(text)))
    }
    #expect(try rules.allows(address("10.2.0.1")) == false)
  }

  @Test(
    "ranges",
    arguments: ["10.0.0.0/8", "10.128.0.0/9", "10.200.1.2", "10.200.1.2/32", "10.200.1.3/31", "0.0.0.0/0"])
  func ranges(_ text: String) throws {
    let range = try #require(AddressRange(text))
    #expect(try range.contains(address("10.200.1.2")))
    #expect(try range.contains(address("::1")) == false)
  }

  @Test(
    "what is no range",
    arguments: ["", "a", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "::/129", "10.0.0.0/8/8"])
  func noRanges(_ text: String) { #expect(AddressRange(text) == nil) }

  private func withRemoteProxy(
    allowed: [AddressRange] = [], httpPorts: Set<Int>? = nil,
    _ body: (RunningProxy, RawOrigin) async throws -> Void
  ) async throws {
    let target = try RawOrigin()
    var upstream = NIOUpstream.Configuration()
    upstream.addresses = AddressRules(allowed: allowed)
    let rules = ForwardRules(connectPorts: [target.port], httpPorts: httpPorts)
    try await withProxy(forward: rules, upstream: upstream) { try await body($0, target) }
  }

  @Test(
    "a host is resolved before its address is checked",
    arguments: [
      "127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0",
      "[::1]",
    ])
  func spellings(_ host: String) async throws {
    try await withRemoteProxy { proxy, target in
      let answer = try await proxy.hit("http://\(host):\(target.port)/", host: "\(host):\(target.port)")
      #expect(answer.hasPrefix("HTTP/1.1 403 "))
      #expect(try await target.acceptIfAny() == nil)
    }
  }

  @Test("tunnels and upgrades are checked as requests are")
  func otherWays() async throws {
    try await withRemoteProxy { proxy, target async throws in
      let host = "127.0.0.1:\(target.port)"
      for request in [
        "CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n",
        "GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n",
      ] {
        #expect(try await proxy.connect(sending: request).receiveAll().hasPrefix("HTTP/1.1 403 "))
      }
      #expect(try await target.acceptIfAny() == nil)
    }
  }

  @Test("an allowed range is connected to")
  func allowedRange() async throws {
    try await withRemoteProxy(allowed: [try #require(AddressRange("127.0.0.0/8"))]) { proxy, _ in
      let host = "localhost:\(proxy.origin.port)"
      let head = try await proxy.miss("http://\(host)/a", host: host)
      #expect(head.hasPrefix("GET /a HTTP/1.1\r\n"))
    }
  }

  @Test("a port that is not allowed is not asked, for http too")
  func ports() async throws {
    try await withProxy(forward: ForwardRules(httpPorts: [80])) { proxy in
      let host = "127.0.0.1:\(proxy.origin.port)"
      let answer = try await proxy.hit("http://\(host)/", host: host)
      #expect(answer.hasPrefix("HTTP/1.1 403 "))
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }
}
