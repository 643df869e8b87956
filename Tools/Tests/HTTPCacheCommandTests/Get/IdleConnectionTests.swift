import ServerTesting
import Testing

/// RFC 9112 §9.3.1: a connection may be closed while the client sends the next request on it.
@Suite(.timeLimit(.minutes(10))) struct IdleConnectionTests {
  @Test("a request without content is sent once more on a new connection")
  func repeated() async throws {
    let directory = try ScratchFolder()
    // It closes a connection when the second request comes, as if it had begun to close an idle one.
    let origin = try await ScriptedOrigin { request in
      if request.numberOnConnection > 0 { return .init(bytes: [UInt8]()) }
      return request.line.hasPrefix("GET /start ")
        ? .init(head: "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0", isHeld: true)
        : .init(head: "HTTP/1.1 200 OK\r\nContent-Length: 2", body: Array("ok".utf8), isHeld: true)
    }
    await CommandRun.success("get", origin.base + "/start", "--dir", directory.path("cache"))
    let targets = origin.requests.map { $0.line.split(separator: " ").prefix(2).joined(separator: " ") }
    #expect(targets == ["GET /start", "GET /next", "GET /next"])
  }
}
