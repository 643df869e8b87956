import HTTPTypes
import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

/// Several addresses of one upstream.
@Suite(.timeLimit(.minutes(10))) struct OriginGroupTests {
  private func origin(_ port: Int) -> Origin { Origin(isSecure: false, host: "127.0.0.1", port: port) }

  @Test("addresses take turns; one that failed too often is left out until the pause is over")
  func turns() {
    let group = OriginGroup(
      origin(1), addresses: [origin(1), origin(2), origin(3)], failureLimit: 2, pause: .seconds(10))
    let now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    #expect(group.order(now: now) == [0, 1, 2])
    #expect(group.order(now: now) == [1, 2, 0])
    #expect(!group.failed(2, now: now))
    #expect(group.failed(2, now: now))
    #expect(!group.failed(2, now: now))
    #expect(group.order(now: now) == [0, 1, 2])
    #expect(group.order(now: now) == [0, 1, 2])
    #expect(group.order(now: now) == [1, 0, 2])
    #expect(group.order(now: now + .seconds(11)) == [2, 0, 1])
    #expect(group.order(now: now) == [0, 1, 2])
    group.succeeded(2)
    #expect(group.order(now: now) == [1, 2, 0])
  }

  /// Runs a test with a proxy over an unused port and a real origin, both of one group.
  private func withGroup(
    unused: UnusedPort? = nil, hasLive: Bool = true, upstream: NIOUpstream.Configuration = .init(),
    messages: RecordedMessages = RecordedMessages(), _ body: (RunningProxy) async throws -> Void
  ) async throws {
    let unused = try unused ?? UnusedPort()
    defer { withExtendedLifetime(unused) {} }
    try await withProxy(
      upstream: upstream,
      configure: { configuration in
        configuration.logger = messages.logger
        configuration.changeRoutes { routes in
          let live = routes[0].group.origin
          routes[0].group = OriginGroup(
            Origin(isSecure: false, host: "www.example.com"),
            addresses: [self.origin(unused.number)] + (hasLive ? [live] : []))
        }
      }
    ) { try await body($0) }
  }

  @Test(
    "an address of several that fails is counted and logged, though the next one answers",
    arguments: [true, false])
  func counted(hasNext: Bool) async throws {
    let (counts, messages, unused) = (EventCounts(), RecordedMessages(), try UnusedPort())
    var upstream = NIOUpstream.Configuration()
    upstream.addressFailed = { counts.addressFailed($0) }
    try await withGroup(unused: unused, hasLive: hasNext, upstream: upstream, messages: messages) { proxy in
      let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
      guard !hasNext else {
        return #expect(try await proxy.exchange(request).response.hasPrefix("HTTP/1.1 204 "))
      }
      let client = try proxy.connect()
      client.send(request)
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 502 "))
    }
    var text = PrometheusText()
    counts.add(to: &text)
    let address = "http://127.0.0.1:\(unused.number)"
    let count = "httpcache_origin_address_failures_total{address=\"\(address)\"} 1\n"
    #expect(text.text.contains(count) == hasNext)
    let isLogged = messages.all.contains { $0.hasPrefix("\(address) failed: ") }
    #expect(isLogged == hasNext, "\(messages.all)")
  }

  @Test(
    "a request goes to the next address if one cannot be reached, with the group's Host",
    arguments: [
      "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na",
    ])
  func unreachable(request: String) async throws {
    try await withGroup { proxy in
      for _ in 0..<3 {
        let (head, answer) = try await proxy.exchange(request, "HTTP/1.1 204 No Content\r\n\r\n")
        #expect(field("Host", in: head) == "www.example.com")
        #expect(answer.hasPrefix("HTTP/1.1 204 "))
      }
    }
  }

  @Test("a request for an upgrade goes to the next address if one cannot be reached (RFC 9110 §7.8)")
  func upgrade() async throws {
    try await withGroup { proxy in
      for _ in 0..<3 {
        let (head, answer) = try await proxy.exchange(
          "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        #expect(field("Host", in: head) == "www.example.com")
        #expect(answer.hasPrefix("HTTP/1.1 101 "))
      }
    }
  }

  @Test("a GET that got no answer is sent again; a POST is not")
  func noAnswer() async throws {
    let second = try RawOrigin()
    try await withProxy(configure: { configuration in
      configuration.changeRoutes { routes in
        let first = routes[0].group.origin
        routes[0].group = OriginGroup(
          Origin(isSecure: false, host: "h"), addresses: [first, self.origin(second.port)])
      }
    }) { proxy in
      let client = try proxy.connect(sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      try await proxy.origin.acceptRequest().peer.end()
      let (peer, _) = try await second.acceptRequest()
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 "))
      client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na")
      try await second.acceptRequest().peer.end()
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 502 "))
    }
  }
}
