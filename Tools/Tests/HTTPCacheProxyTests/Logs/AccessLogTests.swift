import HTTPCacheLibC
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("The access log", .timeLimit(.minutes(10))) struct AccessLogTests {
  /// The lines that a proxy writes for what `body` does.
  private func lines(
    _ format: AccessLog.Format, cache: HTTPCache? = nil,
    configure: (inout ProxyServer.Configuration) -> Void = { _ in },
    _ body: (RunningProxy) async throws -> Void
  ) async throws -> [Substring] {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    do {
      defer { close(ends[1]) }
      try await withProxy(
        cache: cache,
        configure: {
          $0.accessLog = AccessLog(format, descriptor: ends[1])
          configure(&$0)
        }, body)
    }
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = read(ends[0], &buffer, buffer.count)
    return String(decoding: buffer[..<max(0, count)], as: UTF8.self).split(separator: "\n")
  }

  @Test(
    "a pipe without a reader cannot be a log, and is not waited for; checking a log does not end its reader")
  func pipes() throws {
    let folder = try ScratchFolder()
    let path = folder.path("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    #expect(throws: AccessLog.OpenFailure.self) { try AccessLog(.plain, path: path) }
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let log = try AccessLog(.plain, path: path)
    try AccessLog.check(path: path)
    try log.reopen()
    #expect(throws: AccessLog.OpenFailure.self) { try AccessLog.check(path: folder.path) }
    #expect(throws: AccessLog.OpenFailure.self) { try AccessLog.check(path: folder.path("none/log")) }
    #expect(throws: AccessLog.OpenFailure.self) { try AccessLog.check(path: folder.path("none/")) }
    try AccessLog.check(path: folder.path("log"))
  }

  @Test("plain lines tell method, target, status, bytes, time and outcome")
  func plain() async throws {
    let lines = try await lines(.plain) { proxy in
      let (client, peer, _) = try await proxy.open("GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
      _ = try await client.receive(through: "hello")
      client.send("nonsense\r\n\r\n")
      _ = try await client.receiveAll()
    }
    try #require(lines.count == 2)
    let words = lines[0].split(separator: " ")
    #expect(words[7] == "miss")
    #expect(lines[0].hasSuffix(" not-stored=\"no lifetime and no validator (RFC 9111 §3)\""))
    #expect(words[1...5] == ["127.0.0.1", "GET", "/a?b", "200", "5"])
    #expect(words[6].hasSuffix("ms"))
    #expect(lines[1].contains(" 127.0.0.1 - - 400 "))
    #expect(lines[0].contains(" host=h "))
    #expect(lines[1].hasSuffix(" bad-request reason=\"an invalid request line (RFC 9112 §3)\""))
  }

  @Test("JSON lines are quoted")
  func json() async throws {
    let lines = try await lines(.json) { proxy in
      let (client, peer, _) = try await proxy.open("GET /\"\\ HTTP/1.1\r\nHost: h\r\n\r\n")
      try await peer.answerNoContent(to: client)
    }
    try #require(lines.count == 1)
    #expect(lines[0].hasPrefix("{\"time\":\""))
    #expect(lines[0].contains(#""method":"GET","target":"/\"\\","status":204,"bytes":0,"#))
    #expect(lines[0].hasSuffix("\"}"))
    #expect(lines[0].contains(#""outcome":"miss","host":"h""#))
  }

  @Test(
    "an answer that breaks off tells the bytes that were sent, over both versions of HTTP",
    arguments: [false, true])
  func aborted(_ isHTTP2: Bool) async throws {
    let lines = try await lines(.plain, configure: { $0.isHTTP2WithoutTLS = true }) { proxy in
      let body = String(repeating: "x", count: 50_000)
      func answer() async throws {
        let (peer, _) = try await proxy.origin.acceptRequest()
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body)
        peer.end()
      }
      if isHTTP2 {
        let client = try HTTP2Peer(proxy.port)
        client.request(1)
        try await answer()
        #expect(try await client.response(1).reset != nil)
        client.end()
      } else {
        let client = try proxy.connect(sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        try await answer()
        _ = try await client.receiveAll()
      }
    }
    try #require(lines.count == 1)
    let words = lines[0].split(separator: " ")
    #expect(words[4...5] == ["200", "50000"] && words[7] == "miss-aborted")
  }

  @Test("over HTTP/2 an answer is complete when its last byte was sent, though the client is gone then")
  func completeThenGone() async throws {
    let lines = try await lines(.plain, configure: { $0.isHTTP2WithoutTLS = true }) { proxy in
      for _ in 0..<20 {
        let (client, peer, _) = try await proxy.openHTTP2()
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        try await client.receive(5, of: 1)
        client.end()
      }
    }
    #expect(lines.count == 20)
    for line in lines {
      let words = line.split(separator: " ")
      #expect(words[5] == "5" && words[7] == "miss", "\(line)")
    }
  }

  @Test("behind a trusted proxy %h and the host are those that it names, from the origin and from memory")
  func behindProxy() async throws {
    let range = try #require(AddressRange("127.0.0.0/8"))
    let format = AccessLog.Format.template(try LogTemplate("%h %v %U %{outcome}x"))
    let lines = try await lines(
      format, cache: try memoryCache(), configure: { $0.trustedForwarders = [range] }
    ) {
      proxy in
      let fields = "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Host: www.test\r\n"
      try await proxy.miss("/a", fields: fields)
      for _ in 0..<3 { _ = try await proxy.hit("/a", fields: fields) }
      _ = try await proxy.hit("/a", fields: fields.replacing("192.0.2.7", with: "192.0.2.8"))
    }
    #expect(
      lines == ["192.0.2.7 www.test /a miss"] + [Substring](repeating: "192.0.2.7 www.test /a hit", count: 3)
        + ["192.0.2.8 www.test /a hit"])
  }
}
