import HTTPTypes
import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("What a client sends to poison the cache or the origin", .timeLimit(.minutes(10)))
struct PoisoningTests {
  @Test(
    "fields that override method, path or host are passed on, past the cache",
    arguments: [
      "X-Original-URL: /admin", "X-Rewrite-URL: /admin", "X-HTTP-Method-Override: POST",
      "X-HTTP-Method: POST",
      "X-Method-Override: POST", "x_original_url: /admin", "X.HTTP.Method.Override: POST",
      "X-Script-Name: /admin", "Path-Info: /admin", "X-Arr-Ssl: 1", "X-Host: evil", "X-Original-Host: evil",
    ])
  func overridingFields(_ line: String) async throws {
    try await withProxy(cache: try memoryCache()) { proxy in
      let head = try await proxy.miss("/", fields: line + "\r\n", answer: "poison")
      #expect(head.contains("\r\n\(line)\r\n"))
      try await proxy.miss("/", answer: "clean")
      #expect(try await proxy.hit("/").hasSuffix("clean"))
      try await proxy.miss("/", fields: line + "\r\n", answer: "poison")
    }
  }

  @Test("trailers of a request are filtered as its fields are (RFC 9110 §6.5.1, §7.6.1)")
  func trailers() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open(
        "POST / HTTP/1.1\r\nHost: h\r\nConnection: X-Mine\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
          + "X-Mine: 1\r\nX-Forwarded-For: 6.6.6.6\r\nX-Original-URL: /admin\r\nCookie: a=b\r\nIf-Match: *\r\nX-Kept: 1\r\n\r\n"
      )
      #expect(try await peer.receive(through: "\r\n\r\n") == "1\r\na\r\n0\r\nX-Kept: 1\r\n\r\n")
      client.end()
    }
  }

  @Test("trailers of a response that its Connection names are not passed on (RFC 9110 §7.6.1)")
  func responseTrailers() async throws {
    try await withProxy { proxy in
      let (client, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\nTE: trailers\r\n\r\n")
      peer.send(
        "HTTP/1.1 200 OK\r\nConnection: X-Mine\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Mine: 1\r\nX-Kept: 1\r\n\r\n"
      )
      _ = try await client.receiveHead()
      #expect(try await client.receive(through: "\r\n\r\n").hasSuffix("0\r\nX-Kept: 1\r\n\r\n"))
    }
  }

  private func decodes(_ chunk: String, times: Int) -> Bool {
    var decoder = ChunkedDecoder(limits: MessageLimits(), form: .request)
    for _ in 1...times {
      var buffer = ByteBuffer(string: chunk)
      do { while try decoder.next(&buffer) != nil {} } catch { return false }
    }
    return true
  }

  @Test("chunk extensions are bounded by the content that they come with (RFC 9112 §7.1.1)")
  func extensions() {
    let bytes = String(repeating: "e", count: 1000)
    #expect(!decodes("1;\(bytes)\r\na\r\n", times: 100))
    // One byte at a time, without extensions.
    #expect(decodes("1\r\na\r\n", times: 100_000))
    // A signature for each 256 bytes.
    #expect(decodes("100;chunk-signature=\(bytes.prefix(64))\r\n\(bytes.prefix(256))\r\n", times: 10_000))
  }

  @Test("bytes after a failed CONNECT are not a request")
  func failedConnect() async throws {
    let unused = try UnusedPort()
    try await withProxy(forward: ForwardRules(connectPorts: [unused.number])) { proxy in
      let client = try proxy.connect()
      let host = "127.0.0.1:\(proxy.origin.port)"
      client.send(
        "CONNECT 127.0.0.1:\(unused.number) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n"
      )
      let answer = try await client.receiveAll()
      #expect(answer.hasPrefix("HTTP/1.1 502 "))
      #expect(field("Connection", in: answer) == "close")
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("octets that a kept connection has before the next request are not the answer to it")
  func extraOctets() async throws {
    try await withProxy { proxy in
      let (client, first, _) = try await proxy.open("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
      let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
      first.send(answer + "right")
      _ = try await client.receive(through: "right")
      first.send(answer + "wrong")
      client.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
      let (second, head) = try await proxy.origin.acceptRequest()
      #expect(head.hasPrefix("GET /2 "))
      second.send(answer + "again")
      #expect(try await client.receive(through: "again").hasSuffix("\r\n\r\nagain"))
    }
  }
}
