import HTTPCaching
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOPosix
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Silence", .timeLimit(.minutes(10))) struct SilenceTests {
  private let request = UpstreamRequest(
    head: HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/"))

  @Test("a tunnel without a limit lives on, however long both ends are silent")
  func tunnel() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let (client, origin) = (try await TestingStream(loop), try await TestingStream(loop))
    // One direction runs on the loop, which runs only when it is told to.
    let running = Task {
      while !Task.isCancelled {
        await loop.run()
        await pause()
      }
    }
    defer { running.cancel() }
    let tunnel = Task { await Tunnel.run(client: client.stream, origin: origin.stream, silence: nil) }
    await client.waitForReader()
    await origin.waitForReader()
    await loop.advanceTime(by: .hours(1_000))
    try await origin.receive("abc")
    #expect(try await client.waitForBytes(3) == 3)
    await client.waitForReader()
    await loop.advanceTime(by: .hours(1_000))
    try await client.receive("d")
    #expect(try await origin.waitForBytes(1) == 1)
    client.stream.close()
    origin.stream.close()
    #expect(await tunnel.value == 3)
  }

  @Test("a body without a limit may be silent for hours, one with a limit may not")
  func body() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let silent = try await TestingStream(loop)
    let endless = IncomingBody(
      silent.stream, framing: .untilClose, limits: MessageLimits(), form: .response, stall: nil
    ) { _ in }
    let next = Task { try await endless.next() }
    await silent.waitForReader()
    await loop.advanceTime(by: .hours(1_000))
    try await silent.receive("data")
    #expect(try await next.value?.count == 4)

    let limited = try await TestingStream(loop)
    let short = IncomingBody(
      limited.stream, framing: .untilClose, limits: MessageLimits(), form: .response, stall: .seconds(600)
    ) { _ in }
    let end = Task { try await short.next() }
    await limited.waitForReader()
    await loop.advanceTime(by: .seconds(601))
    await #expect(throws: UpstreamError.self) { _ = try await end.value }
  }

  @Test(
    "event streams have no limit, other bodies 10 minutes, whatever the letters and parameters of their type",
    arguments: [
      ("text/event-stream", nil), ("Text/Event-Stream; charset=utf-8", nil), ("text/event-stream;a", nil),
      ("\ttext/event-stream, text/html", nil), ("text/html, text/event-stream", .minutes(10)),
      ("text/html", TimeAmount.minutes(10)), (nil, TimeAmount.minutes(10)),
      ("text/event-streams", TimeAmount.minutes(10)),
    ] as [(String?, TimeAmount?)])
  func defaults(_ type: String?, _ limit: TimeAmount?) {
    var fields: HTTPFields = [:]
    fields[.contentType] = type
    #expect(NIOUpstream.Configuration().silence(of: request, response: fields) == limit)
  }

  @Test("the limit of a route counts instead, for event streams too")
  func route() {
    for (limit, expected) in [(SilenceLimit.unlimited, nil), (.after(.seconds(5)), .seconds(5))]
      as [(SilenceLimit, TimeAmount?)]
    {
      var route = GatewayRoute(to: OriginGroup(Origin(isSecure: false, host: "h")))
      route.silence.origin = limit
      let routed = RoutedRequest(head: request.head, route: route)
      var request = request
      request.context = routed.context
      for type in ["text/event-stream", "text/html"] {
        #expect(
          NIOUpstream.Configuration().silence(of: request, response: [.contentType: type]) == expected)
      }
    }
  }

  @Test("a route's limits hold for its clients, origins and tunnels")
  func routeEndToEnd() async throws {
    try await withProxy(configure: { configuration in
      configuration.changeRoutes { routes in
        routes[0].silence.origin = .after(.milliseconds(50))
        routes[0].silence.client = .milliseconds(50)
        routes[0].silence.tunnel = .after(.milliseconds(50))
      }
    }) { proxy in
      let (reader, peer, _) = try await proxy.open("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\na")
      #expect(try await reader.endsWithReset())

      let writer = try proxy.connect()
      writer.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\na")
      let (other, _) = try await proxy.origin.acceptRequest()
      #expect(try await other.receiveAll() == "a")

      let (upgraded, tunnel, _) = try await proxy.open(
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      tunnel.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      _ = try await upgraded.receiveHead()
      #expect(try await upgraded.receiveAll() == "")
    }
  }

  @Test("a route's time until the head of a response is no other route's")
  func head() async throws {
    try await withProxy(configure: { $0.addRoute("/quick", head: .milliseconds(100)) }) { proxy in
      let (slow, peer, _) = try await proxy.open("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
      for method in ["GET", "OPTIONS", "POST"] {
        let client = try proxy.connect(
          sending: "\(method) /quick HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 504 "))
      }
      let upgrade = try proxy.connect(
        sending: "GET /quick HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
      #expect(try await upgrade.receiveHead().hasPrefix("HTTP/1.1 504 "))
      try await peer.answerNoContent(to: slow)
    }
  }

  @Test("a longer time of a route holds for the request that asks and for one that waits for its response")
  func longHead() async throws {
    let cache = try memoryCache()
    try await withProxy(
      upstream: .with { $0.headTimeout = .milliseconds(50) }, cache: cache,
      configure: {
        $0.changeRoutes { routes in
          var short = routes[0]
          short.path = "/short"
          routes[0].silence.head = .minutes(5)
          routes.insert(short, at: 0)
        }
      }
    ) { proxy in
      let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
      let (leader, peer, _) = try await proxy.open(request)
      let follower = try proxy.connect(sending: request)
      let target = HTTPRequest(
        method: .get, scheme: "http", authority: "127.0.0.1:\(proxy.origin.port)", path: "/")
      try await eventually { cache.isAwaited(target, partition: "http://h") }
      // A later request of a route without a time of its own tells that the shorter time has passed.
      let short = try proxy.connect(sending: "GET /short HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await short.receiveHead().hasPrefix("HTTP/1.1 504 "))
      peer.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1\r\n\r\na")
      for client in [leader, follower] {
        #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 200 "))
      }
    }
  }

  @Test("the system asks a silent peer whether it is there (RFC 9293 §3.8.4)")
  func keepAlive() async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    let listener = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
    let channel = try await ClientBootstrap(group: group)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { KeepAlive.enable(on: channel) }
      }
      .connect(host: "127.0.0.1", port: listener.localAddress?.port ?? 0).get()
    #expect(try await channel.getOption(.socketOption(.so_keepalive)).get() != 0)
    try await channel.close()
    try await listener.close()
  }
}
