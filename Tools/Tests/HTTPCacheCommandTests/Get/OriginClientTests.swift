import HTTPCacheProxy
import HTTPCaching
import HTTPTypes
import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("The client of get", .timeLimit(.minutes(10))) struct OriginClientTests {
  private func request(to origin: ScriptedOrigin) -> UpstreamRequest {
    UpstreamRequest(
      head: HTTPRequest(method: .get, scheme: "https", authority: origin.authority, path: "/"))
  }

  @Test("an origin that sends no SETTINGS does not keep a client whose request is over (RFC 9113 §3.4)")
  func silentOrigin() async throws {
    let origin = try await ScriptedOrigin.frames(settings: nil) { _ in [] }
    var options = OriginClient.Options()
    options.isInsecure = true
    try await OriginClient.withUpstream(options) { upstream in
      let request = Task { try await upstream.send(self.request(to: origin)) }
      await origin.arrived()
      request.cancel()
      await #expect(throws: UpstreamError.self) { try await request.value }
    }
  }

  @Test(
    "an origin that agrees to HTTP/2, and sends no SETTINGS or something else, is asked over HTTP/1.1",
    arguments: [nil, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "\0\0\0\u{6}\0\0\0\0\0"]
      as [String?])
  func withoutSettings(_ first: String?) async throws {
    let origin = try await ScriptedOrigin.frames(
      settings: first.map { Array($0.utf8) }, http1: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"
    ) { _ in [] }
    var options = OriginClient.Options()
    options.isInsecure = true
    // The first try fails after a second; the other one must have enough beside other programs.
    options.connectTimeout = .seconds(250)
    options.shareOfFirstTry = 0.004
    try await OriginClient.withUpstream(options) { upstream in
      let response = try await upstream.send(request(to: origin))
      #expect(response.head.status == .ok)
      _ = try await response.body.collect()
    }
  }

  @Test("the tries over HTTP/2 and over HTTP/1.1 have the time for a connection together")
  func shares() {
    var options = OriginClient.Options()
    options.connectTimeout = .seconds(20)
    #expect(options.ofFirstTry.connectTimeout == .seconds(15))
    #expect(options.ofSecondTry.connectTimeout == .seconds(5) && options.ofSecondTry.isHTTP1Only)
    options.isHTTP1Only = true
    #expect(options.ofFirstTry.connectTimeout == .seconds(20))
  }

  @Test("heads that HTTP/2 cannot deliver to get come over HTTP/1.1")
  func largeHead() async throws {
    let value = String(repeating: "a", count: 20_000)
    let origin = try await ScriptedOrigin.frames(
      http1: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nx-a: \(value)\r\n\r\none"
    ) { HTTP2Peer.head($0, [0x88] + HTTP2Peer.block([("x-a", value)])) }
    var options = OriginClient.Options()
    options.isInsecure = true
    // The second try has a quarter of it, which must be enough beside other programs.
    options.connectTimeout = .seconds(240)
    try await OriginClient.withUpstream(options) { upstream in
      let response = try await upstream.send(request(to: origin))
      let name = try #require(HTTPField.Name("x-a"))
      #expect(response.head.headerFields[name]?.utf8.count == 20_000)
      _ = try await response.body.collect()
    }
  }

  @Test("each of many requests at once to a host has its own connection, so that none gets one that breaks")
  func ownConnections() async throws {
    let count = 40
    let origin = try RawOrigin()
    async let peers = Self.answerTogether(count, origin)
    let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: "/")
    try await OriginClient.withUpstream { upstream in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<count {
          group.addTask {
            let response = try await upstream.send(UpstreamRequest(head: head))
            _ = try await response.body.collect()
            return response.head.status.code
          }
        }
        for try await code in group { #expect(code == 200) }
      }
    }
    _ = try await peers
  }

  @Test(
    "an origin of get has 60 s for the head, 600 s in the body and no limit for event streams; a value counts for all",
    arguments: [
      ([], .seconds(60), TimeAmount.minutes(10), nil),
      (["--origin-silence", "5"], .seconds(5), .seconds(5), .seconds(5)),
      (["--origin-silence", "0"], .hours(365 * 24), nil, nil),
      (["-m", "300"], .seconds(300), .minutes(10), nil), (["-m", "3"], .seconds(60), .minutes(10), nil),
      (["-m", "300", "--origin-silence", "90"], .seconds(90), .seconds(90), .seconds(90)),
    ] as [([String], TimeAmount, TimeAmount?, TimeAmount?)])
  func silence(arguments: [String], head: TimeAmount, body: TimeAmount?, eventStream: TimeAmount?) throws {
    let parsed = try HTTPCacheCommand.parsed(["get", "http://127.0.0.1:1/"] + arguments)
    let command = try #require(parsed as? GetCommand)
    let configuration = OriginClient.configuration(
      try command.connection.clientOptions(maxTime: command.maxTime))
    #expect(configuration.headTimeout == head)
    #expect(configuration.bodyTimeout == body && configuration.eventStreamTimeout == eventStream)
  }

  /// Answers the requests of `count` connections when all have come; returns the connections, which stay open.
  private static func answerTogether(_ count: Int, _ origin: RawOrigin) async throws -> [RawPeer] {
    var peers: [RawPeer] = []
    while peers.count < count { peers.append(try await origin.acceptRequest().peer) }
    for peer in peers { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
    return peers
  }
}
