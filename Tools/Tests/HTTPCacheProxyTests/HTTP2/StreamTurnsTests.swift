import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import ServerTesting
import Testing

@testable import HTTPCacheProxy

@Suite("Streams begin in turns", .timeLimit(.minutes(10))) struct StreamTurnsTests {
  private let recorder = Recorder()
  private let channel: EmbeddedChannel
  private var loop: EmbeddedEventLoop { channel.embeddedEventLoop }

  init() throws {
    channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandlers(StreamTurns(LoopTurns(loop: channel.eventLoop)), recorder)
  }

  private func receive(_ payload: HTTP2Frame.FramePayload, on stream: HTTP2StreamID) {
    channel.pipeline.fireChannelRead(HTTP2Frame(streamID: stream, payload: payload))
  }

  /// A new request, as NIOHTTP2 tells of it.
  private func request(_ stream: HTTP2StreamID) {
    receive(.headers(.init(headers: [":path": "/"])), on: stream)
    channel.pipeline.fireUserInboundEventTriggered(
      NIOHTTP2StreamCreatedEvent(streamID: stream, localInitialWindowSize: 1, remoteInitialWindowSize: 1))
  }

  private func reset(_ stream: HTTP2StreamID) {
    receive(.rstStream(.cancel), on: stream)
    channel.pipeline.fireUserInboundEventTriggered(StreamClosedEvent(streamID: stream, reason: .cancel))
  }

  private func data(_ stream: HTTP2StreamID) {
    receive(.data(.init(data: .byteBuffer(ByteBuffer(string: "a")))), on: stream)
  }

  private func streams(_ numbers: Range<Int>) -> [HTTP2StreamID] { numbers.map { HTTP2StreamID($0 * 2 + 1) } }

  private func begun(_ numbers: Range<Int>) -> [String] {
    streams(numbers).flatMap { ["HEADERS \(Int($0))", "begun \(Int($0))"] }
  }

  @Test("a few in each, in order, and what comes for a stream comes behind its head")
  func order() {
    for stream in streams(0..<20) { request(stream) }
    data(1)
    data(39)
    channel.pipeline.fireChannelReadComplete()
    #expect(recorder.taken() == begun(0..<8) + ["DATA 1", "complete"])
    data(39)
    request(41)
    channel.pipeline.fireChannelReadComplete()
    #expect(recorder.taken() == ["complete"])
    loop.advanceTime(by: LoopTurns.pause)
    #expect(recorder.taken() == begun(8..<16) + ["complete"])
    loop.advanceTime(by: LoopTurns.pause)
    #expect(recorder.taken() == begun(16..<20) + ["DATA 39", "DATA 39"] + begun(20..<21) + ["complete"])
  }

  @Test("each read begins a turn if none waits")
  func reads() {
    for turn in 0..<3 {
      for stream in streams(turn * 8..<turn * 8 + 8) { request(stream) }
      channel.pipeline.fireChannelReadComplete()
      #expect(recorder.taken() == begun(turn * 8..<turn * 8 + 8) + ["complete"])
    }
  }

  @Test("a stream that is reset before its turn never begins (RFC 9113 §10.5)")
  func resets() {
    for stream in streams(0..<400) {
      request(stream)
      reset(stream)
    }
    request(801)
    channel.pipeline.fireChannelReadComplete()
    loop.advanceTime(by: LoopTurns.pause)
    let first = streams(0..<8).flatMap { stream in
      ["HEADERS", "begun", "RST_STREAM", "ended"].map { "\($0) \(Int(stream))" }
    }
    #expect(recorder.taken() == first + ["complete", "HEADERS 801", "begun 801", "complete"])
  }

  @Test("PRIORITY passes at once, and begins nothing (RFC 9113 §5.3.2)")
  func priority() {
    let payload = HTTP2Frame.FramePayload.priority(.init(exclusive: false, dependency: 0, weight: 1))
    receive(payload, on: 99)
    for stream in streams(0..<9) { request(stream) }
    receive(payload, on: 101)
    #expect(recorder.taken() == ["PRIORITY 99"] + begun(0..<8) + ["PRIORITY 101"])
  }

  @Test("what comes for a stream that has begun passes at once, behind what came while it waited")
  func later() {
    for stream in streams(0..<17) { request(stream) }
    data(17)
    channel.pipeline.fireChannelReadComplete()
    loop.advanceTime(by: LoopTurns.pause)
    data(17)
    #expect(
      recorder.taken() == begun(0..<8) + ["complete"] + begun(8..<9) + ["DATA 17"] + begun(9..<16)
        + ["complete", "DATA 17"])
    reset(33)
    #expect(recorder.taken() == [])
    reset(17)
    #expect(recorder.taken() == ["RST_STREAM 17", "ended 17"])
  }

  @Test("a stream that ends while it begins gets nothing more")
  func endedWhileBeginning() {
    for stream in streams(0..<9) { request(stream) }
    data(17)
    channel.pipeline.fireChannelReadComplete()
    _ = recorder.taken()
    let pipeline = channel.pipeline
    recorder.onHeaders = {
      pipeline.fireUserInboundEventTriggered(StreamClosedEvent(streamID: 17, reason: .cancel))
    }
    loop.advanceTime(by: LoopTurns.pause)
    #expect(recorder.taken() == ["HEADERS 17", "ended 17", "complete"])
  }

  @Test("a connection that is gone begins nothing")
  func gone() {
    for stream in streams(0..<40) { request(stream) }
    channel.pipeline.fireChannelReadComplete()
    channel.pipeline.fireChannelInactive()
    loop.advanceTime(by: LoopTurns.pause)
    #expect(recorder.taken() == begun(0..<8) + ["complete"])
  }

  @Test("twenty uploads at once arrive whole and in order")
  func uploads() async throws {
    try await withHTTP2 { proxy in
      let client = try HTTP2Peer(proxy.port)
      try await client.confirmSettings()
      let ids = (0..<20).map { UInt32($0 * 2 + 1) }
      func parts(_ text: String, isLast: Bool) -> [[UInt8]] {
        ids.map { id in
          let payload = Array("\(text) \(id);".utf8)
          return HTTP2Peer.frame(HTTP2Peer.data, flags: isLast ? 1 : 0, stream: id, payload: payload)
        }
      }
      let heads = ids.map { HTTP2Peer.request($0, "/\($0)", method: "POST", ends: false) }
      client.send(together: heads + parts("one", isLast: false))
      client.send(together: parts("two", isLast: false))
      client.send(together: parts("three", isLast: true))
      for _ in ids {
        let (peer, head) = try await proxy.origin.acceptRequest()
        let id = try #require(head.split(separator: " ").dropFirst().first).dropFirst()
        let content = try await peer.receive(through: "\r\n0\r\n\r\n")
        let lines = content.split(separator: "\r\n").enumerated().filter { $0.offset % 2 == 1 }
        #expect(lines.map(\.element).joined() == "one \(id);two \(id);three \(id);")
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      }
      for id in ids { #expect(try await client.response(id).text == "ok") }
    }
  }

  @Test("requests that are reset in the same packet never reach the origin")
  func origin() async throws {
    try await withHTTP2 { proxy in
      let client = try HTTP2Peer(proxy.port)
      try await client.confirmSettings()
      // As many as one read takes.
      let ids = (0..<20).map { UInt32($0 * 2 + 1) }
      let cancelled = ids.flatMap { id in
        [
          HTTP2Peer.request(id, "/cancelled"),
          HTTP2Peer.frame(HTTP2Peer.reset, stream: id, payload: [0, 0, 0, 8]),
        ]
      }
      client.send(together: cancelled + [HTTP2Peer.request(41, "/asked")])
      let (peer, head) = try await proxy.origin.acceptRequest()
      #expect(head.hasPrefix("GET /asked "))
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      #expect(try await client.response(41).text == "ok")
      #expect(try await proxy.origin.acceptIfAny() == nil)
    }
  }
}

/// The events that reach the handlers behind.
private final class Recorder: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame

  private var events: [String] = []
  /// Runs when a head arrives.
  var onHeaders: (() -> Void)?

  func taken() -> [String] {
    defer { events = [] }
    return events
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    let kind =
      switch frame.payload {
      case .headers: "HEADERS"
      case .data: "DATA"
      case .rstStream: "RST_STREAM"
      case .priority: "PRIORITY"
      default: "other"
      }
    events.append("\(kind) \(Int(frame.streamID))")
    if case .headers = frame.payload { onHeaders?() }
  }

  func channelReadComplete(context: ChannelHandlerContext) { events.append("complete") }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case let event as NIOHTTP2StreamCreatedEvent: events.append("begun \(Int(event.streamID))")
    case let event as StreamClosedEvent: events.append("ended \(Int(event.streamID))")
    default: events.append("ending")
    }
  }
}
