import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPCacheProxy

@Suite("Writes of HTTP/2", .timeLimit(.minutes(10))) struct WriteJoinerTests {
  private func makeChannel() throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandler(WriteJoiner())
    return channel
  }

  private func write(_ text: String, to channel: EmbeddedChannel, _ promise: EventLoopPromise<Void>? = nil) {
    channel.write(IOData.byteBuffer(ByteBuffer(string: text)), promise: promise)
  }

  private func written(_ channel: EmbeddedChannel) throws -> [String] {
    channel.flush()
    var texts: [String] = []
    while case .byteBuffer(let bytes)? = try channel.readOutbound(as: IOData.self) {
      texts.append(String(buffer: bytes))
    }
    return texts
  }

  @Test("are joined until they are flushed")
  func joined() throws {
    let channel = try makeChannel()
    for text in ["a", "b", "c"] { write(text, to: channel) }
    let early = try channel.readOutbound(as: IOData.self)
    #expect(early == nil)
    #expect(try written(channel) == ["abc"])
    write("d", to: channel)
    #expect(try written(channel) == ["d"])
    #expect(try written(channel) == [])
  }

  @Test("stay apart if a promise waits for them, in their order")
  func promised() throws {
    let channel = try makeChannel()
    let promise = channel.eventLoop.makePromise(of: Void.self)
    write("a", to: channel)
    write("b", to: channel, promise)
    write("c", to: channel)
    #expect(try written(channel) == ["a", "b", "c"])
    try promise.futureResult.wait()
  }

  @Test("are joined up to the length of a record of TLS, in their order")
  func long() throws {
    let channel = try makeChannel()
    let (half, whole) = (String(repeating: "h", count: 8 << 10), String(repeating: "w", count: 16 << 10))
    for text in [half, half, "a", whole, "b"] { write(text, to: channel) }
    #expect(try written(channel) == [half + half, "a", whole, "b"])
  }
}
