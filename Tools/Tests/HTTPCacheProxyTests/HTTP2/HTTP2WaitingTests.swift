import HTTPCaching
import NIOCore
import NIOHTTP2
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("What a client of HTTP/2 keeps waiting", .timeLimit(.minutes(10))) struct HTTP2WaitingTests {
  private let closedWindow: [UInt8] = [0, 4, 0, 0, 0, 0]

  /// A proxy that has `count` answers in memory.
  private func withHits(
    _ count: Int, bytes: Int = 60_000, bodyTimeout: TimeAmount = .seconds(60), ofRoute: TimeAmount? = nil,
    _ body: (RunningProxy) async throws -> Void
  ) async throws {
    try await withProxy(
      cache: memoryCache(),
      configure: {
        $0.isHTTP2WithoutTLS = true
        $0.bodyTimeout = bodyTimeout
        $0.changeRoutes { $0[0].silence.client = ofRoute }
      }
    ) { proxy in
      for number in 0..<count {
        try await proxy.miss("/\(number)", answer: String(repeating: "x", count: bytes))
      }
      try await body(proxy)
    }
  }

  @Test("an answer from memory that the client does not take is reset in its time")
  func late() async throws {
    try await withHits(1, bodyTimeout: .milliseconds(200)) { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.send(HTTP2Peer.settings, 0, closedWindow)
      client.request(1, "/0")
      let response = try await client.response(1)
      #expect(response.status == "200" && response.reset == UInt8(8) && response.body.isEmpty)
      client.request(3, "/0")
      #expect(try await client.response(3).reset != nil)
    }
  }

  @Test(
    "a route's limit holds for its answers from memory, and for those of the slow path", arguments: [1, 5])
  func ofRoute(_ count: Int) async throws {
    try await withHits(count, bytes: 65_536, bodyTimeout: .minutes(30), ofRoute: .milliseconds(200)) {
      proxy in
      let client = try HTTP2Peer(proxy.port)
      client.send(HTTP2Peer.settings, 0, closedWindow)
      try await client.confirmSettings()
      // More than 256 KiB do not wait as answers from memory.
      client.send(together: (0..<count).map { HTTP2Peer.request(UInt32($0 * 2 + 1), "/\($0)") })
      #expect(try await client.response(UInt32(count * 2 - 1)).reset != nil)
    }
  }

  @Test("more answers than may wait in memory come all the same, once the client takes them")
  func beyondMemory() async throws {
    try await withHits(8) { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.send(HTTP2Peer.settings, 0, closedWindow)
      for number in 0..<8 { client.request(UInt32(number * 2 + 1), "/\(number)") }
      client.widen(0, by: 1 << 20)
      for number in 0..<8 { client.widen(UInt32(number * 2 + 1), by: 1 << 20) }
      for number in 0..<8 {
        #expect(try await client.response(UInt32(number * 2 + 1)).body.count == 60_000)
      }
    }
  }

  @Test("an answer that finds no room in memory, after others that were asked for at once, is reset, too")
  func withoutRoom() async throws {
    try await withHits(5, bytes: 65_536, bodyTimeout: .milliseconds(200)) { proxy in
      let client = try HTTP2Peer(proxy.port)
      // The window of the connection is what holds the answers back: it is smaller than the first one.
      client.send(HTTP2Peer.settings, 0, [0, 4, 0, 16, 0, 0])
      try await client.confirmSettings()
      client.send(together: (0..<5).map { HTTP2Peer.request(UInt32($0 * 2 + 1), "/\($0)") })
      #expect(try await client.response(9).reset != nil)
    }
  }

  @Test("a client that does not confirm the end of an idle connection loses it")
  func silent() async throws {
    try await withRisingLimits { limit in
      var frames: [HTTP2Peer.Frame] = []
      try await withProxy(configure: {
        $0.isHTTP2WithoutTLS = true
        // Also the time for the preface.
        $0.idleTimeout = limit
        $0.headTimeout = .milliseconds(100)
      }) { proxy in
        let client = try HTTP2Peer(proxy.port)
        frames = try await client.rest()
        try await eventually { proxy.server.connectionCount == 0 }
      }
      guard !frames.isEmpty else { return false }
      #expect(frames.contains { $0.type == HTTP2Peer.goAway })
      return true
    }
  }

  @Test(
    "a server that ends names the last stream that it answers from memory, and lets it end (RFC 9113 §6.8)")
  func lastStream() async throws {
    try await withHits(1) { proxy in
      let client = try HTTP2Peer(proxy.port)
      client.send(HTTP2Peer.settings, 0, closedWindow)
      client.request(1, "/0")
      try await client.next(HTTP2Peer.headers)
      async let end: Void = proxy.server.shutDown(deadline: .seconds(60))
      try await client.send(HTTP2Peer.ping, flags: 1, 0, client.next(HTTP2Peer.ping).payload)
      #expect(try await client.next(HTTP2Peer.goAway).payload.prefix(4) == [0, 0, 0, 1])
      client.widen(1, by: 1 << 20)
      #expect(try await client.response(1).body.count == 60_000)
      await end
    }
  }

  @Test("the bytes of an answer count until its stream ends; the earliest deadline comes first")
  func streams() throws {
    var streams = HTTP2ConnectionStreams()
    let now = NIODeadline.now()
    #expect(streams.begins(1) && !streams.begins(1) && streams.begins(5) && !streams.begins(3))
    streams.addAnswered(1, size: 10, deadline: now)
    streams.addAnswered(5, size: 20, deadline: now + .seconds(1))
    streams.addExchange(7, CountedExchange(share: nil, isHeld: false))
    #expect(streams.waitingBytes == 30 && streams.nextDeadline == now)
    #expect(streams.late(at: now) == [1] && streams.late(at: now - .seconds(1)) == [])
    #expect(streams.end(1).isAnswered)
    guard case .unknown = streams.end(1) else { throw Unexpected() }
    #expect(streams.waitingBytes == 20 && streams.nextDeadline == now + .seconds(1))
    guard case .exchange = streams.end(7) else { throw Unexpected() }
    #expect(streams.end(5).isAnswered && streams.isEmpty)
    #expect(streams.waitingBytes == 0 && streams.nextDeadline == nil)
    for (id, second) in [(9, 3), (11, 1), (13, 3), (15, 2)] as [(HTTP2StreamID, Int64)] {
      streams.addAnswered(id, size: 1, deadline: now + .seconds(second))
    }
    #expect(
      streams.late(at: now + .seconds(2)) == [11, 15]
        && streams.late(at: now + .seconds(3)) == [11, 15, 9, 13])
  }
}

private struct Unexpected: Error {}

extension HTTP2ConnectionStreams.Ended {
  fileprivate var isAnswered: Bool { if case .answered = self { true } else { false } }
}
