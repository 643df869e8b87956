import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPCacheProxy

@Suite("Handlers are not re-entered", .timeLimit(.minutes(10))) struct EventOrderTests {
  /// Does what a failing flush does within NIO: more bytes and the end come before the flush returns.
  private final class FailingFlush: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private var hasFailed = false

    func flush(context: ChannelHandlerContext) {
      if !hasFailed {
        hasFailed = true
        let pipeline = context.pipeline
        pipeline.fireChannelRead(ByteBuffer(string: "2"))
        pipeline.fireChannelReadComplete()
        pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
        pipeline.fireChannelInactive()
      }
      context.flush()
    }
  }

  /// Flushes within each event, and notes the events.
  private final class Flushing: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    var events: [String] = []
    private var depth = 0
    var deepest = 0

    private func note(_ event: String, _ context: ChannelHandlerContext) {
      depth += 1
      deepest = max(deepest, depth)
      events.append(event)
      context.flush()
      depth -= 1
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      note("read \(String(buffer: unwrapInboundIn(data)))", context)
    }
    func channelReadComplete(context: ChannelHandlerContext) { note("complete", context) }
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { note("event", context) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { note("error", context) }
    func channelInactive(context: ChannelHandlerContext) { note("inactive", context) }
  }

  @Test("what comes while a handler flushes waits until the handler has returned, in order")
  func order() throws {
    let (channel, handler) = (EmbeddedChannel(), Flushing())
    try channel.pipeline.syncOperations.addHandlers([FailingFlush(), EventOrder(), handler])
    channel.pipeline.fireChannelRead(ByteBuffer(string: "1"))
    #expect(handler.deepest == 1)
    #expect(handler.events == ["read 1", "read 2", "complete", "event", "error", "inactive"])
    channel.pipeline.fireChannelRead(ByteBuffer(string: "3"))
    #expect(handler.events.last == "read 3")
  }

  @Test("a preface is decided once, whatever comes while the handlers of its protocol are added")
  func preface() throws {
    let channel = EmbeddedChannel()
    var decisions: [Bool] = []
    let preface = PrefaceHandler { isHTTP2 in
      decisions.append(isHTTP2)
      channel.flush()
    }
    try channel.pipeline.syncOperations.addHandlers([FailingFlush(), EventOrder(), preface])
    channel.pipeline.fireChannelRead(ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore"))
    #expect(decisions == [true])
  }
}
