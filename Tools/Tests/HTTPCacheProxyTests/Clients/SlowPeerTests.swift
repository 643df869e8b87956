import HTTPCaching
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOPosix
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Slow clients and origins", .timeLimit(.minutes(10))) struct SlowPeerTests {
  /// A request's body that arrives when the test says so.
  private final class GivenBody: BodySource {
    private let pieces: AsyncStream<BodyBytes>
    private let give: AsyncStream<BodyBytes>.Continuation

    init() { (pieces, give) = AsyncStream.makeStream() }

    var length: Int64? { nil }
    var trailers: HTTPFields { [:] }
    func send(_ text: String) { give.yield(BodyBytes(Array(text.utf8))) }
    func finish() { give.finish() }
    func next() async throws -> BodyBytes? { await pieces.first { _ in true } }
    func cancel() { give.finish() }
  }

  private func upload(
    _ body: GivenBody, _ origin: TestingStream, _ loop: NIOAsyncTestingEventLoop
  ) throws -> Task<UpstreamResponse, any Error> {
    let configuration = NIOUpstream.Configuration.with { $0.headTimeout = .seconds(4) }
    let pool = try ConnectionPool(group: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    let lease = ConnectionLease(
      origin.stream, Origin(isSecure: false, host: "h", port: 80), isReused: false)
    let request = UpstreamRequest(
      head: HTTPRequest(method: .post, scheme: "http", authority: "h", path: "/"), body: MessageBody(body))
    return Task {
      try await RequestAttempt(lease, pool: pool)
        .run(request, upgrade: nil, until: loop.now + .seconds(4))
    }
  }

  @Test("an upload takes as long as its bytes move; the time for the answer begins at its end")
  func upload() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let origin = try await TestingStream(loop)
    let body = GivenBody()
    let upload = try upload(body, origin, loop)
    for _ in 1...8 {
      body.send("x")
      _ = try await origin.waitForBytes(1)
      await origin.waitForReader()
      await loop.advanceTime(by: .seconds(3))
    }
    body.finish()
    _ = try await origin.waitForBytes(1)
    await origin.waitForReader()
    await loop.advanceTime(by: .seconds(3))
    try await origin.receive("HTTP/1.1 204 No Content\r\n\r\n")
    #expect(try await upload.value.head.status == .noContent)
  }

  @Test("an answer that came before the writer saw the connection close is the answer")
  func closedAfterAnswer() async throws {
    let origin = try await TestingStream(NIOAsyncTestingEventLoop())
    try await origin.receive("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    try await origin.channel.close()
    let configuration = NIOUpstream.Configuration()
    let pool = try ConnectionPool(group: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    let lease = ConnectionLease(
      origin.stream, Origin(isSecure: false, host: "h", port: 80), isReused: false)
    let request = UpstreamRequest(
      head: HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/"))
    let response = try await RequestAttempt(lease, pool: pool)
      .run(request, upgrade: nil, until: .distantFuture)
    #expect(response.head.status == .noContent)
  }

  @Test("an origin that does not answer after an upload is given up")
  func uploadWithoutAnswer() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let origin = try await TestingStream(loop)
    let body = GivenBody()
    let upload = try upload(body, origin, loop)
    body.send("x")
    body.finish()
    var ended = false
    while !ended, !Task.isCancelled {
      await origin.waitForReader()
      ended =
        try await origin.channel.readOutbound(as: IOData.self).map { String(buffer: $0.buffer) }
        == "0\r\n\r\n"
    }
    // The end of the body may be noted a moment after its last bytes.
    while !origin.stream.isEnded, !Task.isCancelled {
      await loop.advanceTime(by: .seconds(5))
      await pause()
    }
    await #expect { _ = try await upload.value } throws: { ($0 as? UpstreamError)?.kind == .timeout }
  }

  /// Makes a channel take no more after each slice of a body.
  private final class SlowChannel: ChannelOutboundHandler {
    typealias OutboundIn = IOData

    private let channel: NIOAsyncTestingChannel

    init(_ channel: NIOAsyncTestingChannel) { self.channel = channel }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if unwrapOutboundIn(data).readableBytes > 1000 { channel.isWritable = false }
      context.write(data, promise: promise)
    }
  }

  @Test("a body goes out a slice at a time, for as long as the client takes them")
  func slices() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let client = try await TestingStream(loop)
    let channel = client.channel
    try await loop.executeInContext {
      try channel.pipeline.syncOperations.addHandler(SlowChannel(channel), position: .first)
    }
    let writer = ResponseWriter(
      stream: client.stream, method: .get, form: .http1(minorVersion: 1), sendsFiles: true,
      timeout: .seconds(60))
    let body = MessageBody(BodyBytes([UInt8](repeating: 65, count: 20 * ByteStream.slice)))
    let sending = Task(executorPreference: EventLoopExecutor(loop)) {
      try await writer.send(HTTPResponse(status: .ok), body, persists: true)
    }
    for _ in 1...20 {
      let written = try await client.waitForBytes(ByteStream.slice)
      #expect(written <= ByteStream.slice + 1000)
      await client.waitForWriter()
      await loop.advanceTime(by: .seconds(50))
      channel.isWritable = true
      channel.pipeline.fireChannelWritabilityChanged()
    }
    #expect(try await sending.value.bytes == Int64(20 * ByteStream.slice))
  }

  @Test(
    "bytes in memory count as sent when the client has taken what was written before",
    arguments: [false, true])
  func countedWhenTaken(isHTTP2: Bool) async throws {
    let loop = NIOAsyncTestingEventLoop()
    let client = try await TestingStream(loop)
    client.channel.isWritable = false
    let writer = ResponseWriter(
      stream: client.stream, method: .get, form: isHTTP2 ? .http2 : .http1(minorVersion: 1), sendsFiles: true,
      timeout: .seconds(60))
    let sending = Task(executorPreference: EventLoopExecutor(loop)) {
      try await writer.send(HTTPResponse(status: .ok), MessageBody(BodyBytes([1, 2, 3])), persists: true)
    }
    await client.waitForWriter()
    await loop.advanceTime(by: .seconds(61))
    let error = await #expect(throws: ResponseWriter.BrokenOff.self) { try await sending.value }
    #expect(error?.bytes == 0)
  }

  @Test("a client that takes no byte in its time is cut off")
  func cut() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let client = try await TestingStream(loop)
    client.channel.isWritable = false
    client.stream.write(ByteBuffer(string: "x"))
    let flushing = Task { try await client.stream.flush(until: loop.now + .seconds(60)) }
    await client.waitForWriter()
    await loop.advanceTime(by: .seconds(59))
    #expect(client.stream.state.withLock { $0.writer != nil })
    await loop.advanceTime(by: .seconds(2))
    await #expect(throws: StreamError.self) { try await flushing.value }
  }

  @Test(
    "a slow client that has ended its side gets the whole body",
    arguments: [
      "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    ])
  func endedClient(_ request: String) async throws {
    try await withProxy { proxy in
      let client = try RawPeer.connect(proxy.port, receiveBuffer: 4096)
      client.send(request)
      client.finish()
      let (peer, _) = try await proxy.origin.acceptRequest()
      let size = 1 << 20
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      async let sent = peer.send([UInt8](repeating: 7, count: size))
      _ = try await client.receiveHead()
      #expect(try await client.count(upTo: .max) == size)
      #expect(await sent == size)
    }
  }

  @Test("connecting takes no longer than the request may")
  func connecting() async throws {
    let full = try RawOrigin()
    // As many as wait to be accepted.
    let waiting = try (0...64).map { _ in try RawPeer.connect(full.port) }
    try await withProxy(
      upstream: .with { ($0.connectTimeout, $0.headTimeout) = (.minutes(10), .milliseconds(100)) },
      configure: {
        $0.mode = .reverse(Origin(isSecure: false, host: "127.0.0.1", port: full.port), basePath: "")
      }
    ) { proxy in
      let client = try proxy.connect(sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try await client.receiveHead().hasPrefix("HTTP/1.1 504 "))
    }
    withExtendedLifetime(waiting) {}
  }
}

extension IOData {
  fileprivate var buffer: ByteBuffer {
    if case .byteBuffer(let buffer) = self { buffer } else { ByteBuffer() }
  }
}
