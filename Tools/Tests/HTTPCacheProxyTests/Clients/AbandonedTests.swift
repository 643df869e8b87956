import HTTPCaching
import HTTPTypes
import NIOCore
import NIOEmbedded
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Clients that end their side before the answer", .timeLimit(.minutes(10))) struct AbandonedTests {
  private let request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

  @Test(
    "the request is cancelled after a while, whether the end comes with the request or later",
    arguments: [true, false])
  func cancelled(_ isAtOnce: Bool) async throws {
    if isAtOnce { return try await expectCancelled(request) }
    try await withProxy(configure: { $0.abandonedTimeout = .milliseconds(200) }) { proxy in
      let (client, peer, _) = try await proxy.open(request)
      client.finish()
      #expect(try await peer.receiveAll() == "")
      #expect(try await client.receiveAll() == "")
    }
  }

  @Test("a request for an upgrade is cancelled, too")
  func upgrade() async throws {
    try await expectCancelled(
      "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
  }

  /// Sends a request whose client ends its side at once, and checks that the origin gets it and sees its end.
  private func expectCancelled(_ request: String) async throws {
    try await withRisingLimits { limit in
      var received: String?
      try await withProxy(configure: { $0.abandonedTimeout = limit }) { proxy in
        let client = try proxy.connect(sending: request)
        client.finish()
        #expect(try await client.receiveAll() == "")
        received = try await proxy.origin.acceptIfAny()?.receiveAll()
      }
      return received?.hasSuffix("\r\n\r\n") == true
    }
  }

  @Test(
    "without a limit, and within it, the client gets its answer", arguments: [nil, TimeAmount.seconds(600)])
  func waits(_ limit: TimeAmount?) async throws {
    try await withProxy(configure: { $0.abandonedTimeout = limit }) { proxy in
      let client = try proxy.connect(sending: request)
      client.finish()
      let (peer, _) = try await proxy.origin.acceptRequest()
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      #expect(try await client.receiveAll().hasSuffix("ok"))
    }
  }

  @Test("a request that others wait for goes on")
  func awaited() async throws {
    let cache = try memoryCache()
    try await withProxy(cache: cache, configure: { $0.abandonedTimeout = .milliseconds(1) }) { proxy in
      let (first, peer, _) = try await proxy.open(request)
      let second = try proxy.connect(sending: request)
      let target = HTTPRequest(
        method: .get, scheme: "http", authority: "127.0.0.1:\(proxy.origin.port)", path: "/")
      try await eventually { cache.isAwaited(target, partition: "http://h") }
      first.finish()
      // Other requests pass meanwhile, for longer than the limit.
      for number in 0..<50 {
        _ = try await proxy.exchange(
          "GET /\(number) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
          "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
      }
      peer.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok")
      #expect(try await second.receiveAll().hasSuffix("ok"))
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }

  @Test("the while begins with the end of the client, and begins anew while the request is needed")
  func times() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let client = try await TestingStream(loop)
    let isNeeded = Mutex(true)
    client.stream.closeIfAbandoned(after: .seconds(30)) { isNeeded.withLock { $0 } }
    await loop.advanceTime(by: .hours(1))
    #expect(!client.stream.state.withLock { $0.isClosed })
    try await loop.executeInContext { client.stream.ended() }
    await loop.advanceTime(by: .seconds(31))
    #expect(!client.stream.state.withLock { $0.isClosed })
    isNeeded.withLock { $0 = false }
    await loop.advanceTime(by: .seconds(31))
    try await eventually { client.stream.state.withLock { $0.isClosed } }
  }

  @Test("an answer that has begun is not cut")
  func begun() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let client = try await TestingStream(loop)
    client.stream.closeIfAbandoned(after: .seconds(30)) { false }
    try await loop.executeInContext { client.stream.ended() }
    client.stream.answerBegins()
    await loop.advanceTime(by: .hours(1))
    #expect(!client.stream.state.withLock { $0.isClosed })
  }

  @Test("an answer that begins while the connection is asked about is not cut")
  func beginsMeanwhile() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let client = try await TestingStream(loop)
    let stream = client.stream
    stream.closeIfAbandoned(after: .seconds(30)) {
      stream.answerBegins()
      return false
    }
    try await loop.executeInContext { stream.ended() }
    await loop.advanceTime(by: .hours(1))
    #expect(!stream.state.withLock { $0.isClosed })
  }
}
