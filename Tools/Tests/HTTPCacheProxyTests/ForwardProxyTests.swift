import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("The forward proxy, tunnels and the last hop", .timeLimit(.minutes(10))) struct ForwardProxyTests {
  @Test("absolute-form goes to the origin it names, in origin-form (RFC 9112 §3.2.2)")
  func absoluteForm() async throws {
    try await withProxy(forward: ForwardRules()) { proxy in
      let host = "127.0.0.1:\(proxy.origin.port)"
      let (request, response) = try await proxy.exchange(
        "GET http://\(host)/a?b HTTP/1.1\r\nHost: \(host)\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n")
      #expect(request.hasPrefix("GET /a?b HTTP/1.1\r\nHost: \(host)\r\n"))
      #expect(response.hasPrefix("HTTP/1.1 204 "))
    }
  }

  @Test(
    "the Host field is ignored next to a whole URI (RFC 9112 §3.2.2)",
    arguments: ["Host: other\r\n", "Host: 127.0.0.1:1\r\n"])
  func otherHost(field: String) async throws {
    try await withProxy(forward: ForwardRules()) { proxy in
      let host = "127.0.0.1:\(proxy.origin.port)"
      let (request, _) = try await proxy.exchange("GET http://\(host)/a HTTP/1.1\r\n\(field)\r\n")
      #expect(request.hasPrefix("GET /a HTTP/1.1\r\nHost: \(host)\r\n"))
      #expect(!request.contains(field))
    }
  }

  @Test("OPTIONS with a URI without a path is OPTIONS * (RFC 9112 §3.2.4)")
  func optionsForm() async throws {
    try await withProxy(forward: ForwardRules()) { proxy in
      let host = "127.0.0.1:\(proxy.origin.port)"
      let (request, _) = try await proxy.exchange("OPTIONS http://\(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(request.hasPrefix("OPTIONS * HTTP/1.1\r\n"))
    }
  }

  @Test("OPTIONS * reaches the upstream of a gateway")
  func asterisk() async throws {
    try await withProxy(basePath: "/base") { proxy in
      let (request, _) = try await proxy.exchange("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(request.hasPrefix("OPTIONS * HTTP/1.1\r\n"))
    }
  }

  @Test("a path alone is no request for a proxy, and a host that is not allowed is not asked")
  func refused() async throws {
    try await withProxy(forward: ForwardRules(allowedHosts: ["*.example.com"])) { proxy in
      let client = try proxy.connect(
        sending: "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(proxy.origin.port)\r\n\r\n")
      let head = try await client.receiveHead()
      #expect(head.hasPrefix("HTTP/1.1 400 "))
      _ = try await client.receive(count: Int(field("Content-Length", in: head) ?? "") ?? 0)
      let host = "127.0.0.1:\(proxy.origin.port)"
      client.send("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 403 "))
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("CONNECT tunnels to a named port, both ways, with each side's end passed on")
  func connect() async throws {
    let target = try RawOrigin()
    try await withProxy(forward: ForwardRules(connectPorts: [target.port])) { proxy in
      let client = try proxy.connect()
      let host = "127.0.0.1:\(target.port)"
      // Bytes after the head already belong to the tunnel.
      client.send("CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\r\nfirst")
      #expect(try await client.receiveHead() == "HTTP/1.1 200 Connection Established\r\n\r\n")
      let peer = try await target.accept()
      #expect(try await peer.receive(count: 5) == "first")
      peer.send("\u{0}\u{FF}back")
      #expect(try await client.receive(count: 6) == "\u{0}\u{FF}back")
      client.finish()
      #expect(try await peer.receiveAll() == "")
      peer.send("after")
      peer.end()
      #expect(try await client.receiveAll() == "after")
    }
  }

  @Test("CONNECT to another port or host is refused, and a gateway has no tunnels")
  func connectRefused() async throws {
    let target = try RawOrigin()
    let host = "127.0.0.1:\(target.port)"
    let request = "CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n"
    let rules = ForwardRules(allowedHosts: ["example.com"], connectPorts: [target.port])
    for (rules, status) in [(ForwardRules(), 403), (rules, 403), (nil, 405)] {
      try await withProxy(forward: rules) { proxy in
        let client = try proxy.connect(sending: request)
        let answer = try await client.receiveAll()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        // RFC 9110 §15.5.6.
        #expect((field("Allow", in: answer)?.hasPrefix("GET, ") ?? false) == (status == 405))
        #expect(try await target.acceptIfAny() == nil)
      }
    }
  }

  @Test("a tunnel that is silent for too long ends")
  func silentTunnel() async throws {
    let target = try RawOrigin()
    try await withProxy(
      forward: ForwardRules(connectPorts: [target.port]), configure: { $0.tunnelTimeout = .milliseconds(50) }
    ) { proxy in
      let client = try proxy.connect(
        sending: "CONNECT 127.0.0.1:\(target.port) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      _ = try await client.receiveHead()
      let peer = try await target.accept()
      #expect(try await client.receiveAll() == "")
      #expect(try await peer.receiveAll() == "")
    }
  }

  // holds 9110-7.6.1-1
  @Test("a connection is upgraded if the origin agrees, and is a tunnel then (RFC 9110 §7.8)")
  func upgrade() async throws {
    try await withProxy { proxy in
      let (client, peer, head) = try await proxy.open(
        "GET /chat HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n\r\n"
      )
      #expect(field("Upgrade", in: head) == "websocket")
      #expect(field("Connection", in: head) == "Upgrade")
      #expect(field("Sec-WebSocket-Key", in: head) == "a")
      peer.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: b\r\n\r\nhello"
      )
      let answer = try await client.receiveHead()
      #expect(answer.hasPrefix("HTTP/1.1 101 "))
      #expect(field("Upgrade", in: answer) == "websocket")
      #expect(field("Connection", in: answer) == "Upgrade")
      #expect(field("Sec-WebSocket-Accept", in: answer) == "b")
      #expect(field("Date", in: answer) != nil)
      #expect(try await client.receive(count: 5) == "hello")
      client.send("GET / HTTP/1.1\r\n\r\n")
      #expect(try await peer.receive(through: "\r\n\r\n") == "GET / HTTP/1.1\r\n\r\n")
      peer.end()
      #expect(try await client.receiveAll() == "")
    }
  }

  @Test("an origin that does not agree gives an answer like any other")
  func upgradeDeclined() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 "))
      #expect(try await client.receive(count: 2) == "no")
      client.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await peer.receiveHead().hasPrefix("GET /2 "))
    }
  }

  @Test(
    "other forms of HTTP are not upgraded to", arguments: ["h2c", "HTTP/2.0", "TLS/1.2", "websocket, h2c"])
  func noOtherHTTP(_ protocols: String) async throws {
    try await withProxy { proxy in
      let (request, _) = try await proxy.exchange(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: \(protocols)\r\nHTTP2-Settings: a\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n")
      for name in ["Upgrade", "Connection", "HTTP2-Settings"] { #expect(field(name, in: request) == nil) }
    }
  }

  @Test("a request that has passed the proxy before is answered with 508")
  func loop() async throws {
    try await withProxy(forward: ForwardRules()) { proxy in
      // The proxy is asked to forward to itself.
      let client = try proxy.connect(
        sending: "GET http://127.0.0.1:\(proxy.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(proxy.port)\r\n\r\n")
      // The second request has only a path, as any origin gets it.
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 508 "))
    }
  }

  @Test("a gateway in front of itself detects the loop")
  func gatewayLoop() async throws {
    try await withProxy { proxy in
      try await withProxy(configure: {
        $0.mode = .reverse(
          Origin(isSecure: false, host: "127.0.0.1", port: proxy.origin.port), basePath: "")
      }) { second in
        let client = try second.connect(sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        let (peer, head) = try await proxy.origin.acceptRequest()
        let via = try #require(field("Via", in: head))
        try await peer.answerNoContent(to: client)
        client.send("GET / HTTP/1.1\r\nHost: h\r\nVia: 1.0 a (b, c), \(via) (d)\r\n\r\n")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 508 "))
      }
    }
  }

  @Test("TRACE and OPTIONS with Max-Forwards: 0 are answered here, without secrets (RFC 9110 §7.6.2)")
  func lastHop() async throws {
    try await withProxy { proxy in
      let client = try proxy.connect(
        sending:
          "TRACE /x HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\nCookie: secret\r\nAuthorization: secret\r\nX-Test: 1\r\n\r\n"
      )
      let head = try await client.receiveHead()
      #expect(field("Content-Type", in: head) == "message/http")
      let body = try await client.receive(count: Int(field("Content-Length", in: head) ?? "") ?? 0)
      #expect(body.hasPrefix("TRACE /x HTTP/1.1\r\n"))
      #expect(field("X-Test", in: body) == "1")
      #expect(!body.contains("secret"))
      client.send("OPTIONS / HTTP/1.1\r\nHost: h\r\nMax-Forwards: 000\r\n\r\n")
      #expect(field("Allow", in: try await client.receiveHead())?.contains("GET") == true)
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test(
    "Max-Forwards counts down on TRACE and OPTIONS only",
    arguments: [
      ("TRACE", "5", "4"), ("OPTIONS", "5", "4"), ("GET", "5", "5"), ("OPTIONS", "007", "6"),
      // At most the largest number that the proxy supports (RFC 9110 §7.6.2).
      ("OPTIONS", "18446744073709551616", "18446744073709551614"),
    ])
  func countsDown(method: String, value: String, left: String) async throws {
    try await withProxy { proxy in
      let (request, _) = try await proxy.exchange(
        "\(method) / HTTP/1.1\r\nHost: h\r\nMax-Forwards: \(value)\r\n\r\n")
      #expect(field("Max-Forwards", in: request) == left)
    }
  }

  @Test(
    "each answer that passes has Date (RFC 9110 §6.6.1)",
    arguments: [
      "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ], ["200 OK", "426 Upgrade Required"])
  func date(_ request: String, _ status: String) async throws {
    try await withProxy { proxy in
      let (_, response) = try await proxy.exchange(
        request, "HTTP/1.1 \(status)\r\nUpgrade: foo/1\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n")
      #expect(field("Date", in: response)?.hasSuffix(" GMT") == true)
      // RFC 9110 §15.5.22.
      #expect(field("Upgrade", in: response) == (status.hasPrefix("426") ? "foo/1" : nil))
      #expect(response.contains("\r\nConnection: Upgrade\r\n") == status.hasPrefix("426"))
    }
  }

  @Test("over HTTP/2 an answer has Date, and no Upgrade")
  func dateOverHTTP2() async throws {
    try await withHTTP2 { proxy in
      let (client, peer, _) = try await proxy.openHTTP2("*", method: "OPTIONS")
      peer.send("HTTP/1.1 426 Upgrade Required\r\nUpgrade: foo/1\r\nContent-Length: 0\r\n\r\n")
      let response = try await client.response(1)
      #expect(response.status == "426" && response["date"] != nil && response["upgrade"] == nil)
    }
  }

  @Test("patterns of hosts")
  func patterns() {
    let rules = ForwardRules(allowedHosts: ["Example.com", "*.example.org"])
    for host in ["example.com", "EXAMPLE.COM", "example.com.", "a.example.org", "a.b.example.org"] {
      #expect(rules.allows(host: host), "\(host)")
    }
    for host in ["a.example.com", "example.org", "badexample.org", ".example.org", "example.com.evil", ""] {
      #expect(!rules.allows(host: host), "\(host)")
    }
    #expect(ForwardRules(allowedHosts: ["*"]).allows(host: "x"))
    #expect(!ForwardRules(allowedHosts: []).allows(host: "x"))
  }
}
