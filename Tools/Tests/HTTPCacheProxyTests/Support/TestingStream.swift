import NIOCore
import NIOEmbedded
import Synchronization

@testable import HTTPCacheProxy

/// A stream without a socket, whose time a test moves.
struct TestingStream: Sendable {
  let stream: ByteStream
  let channel: NIOAsyncTestingChannel

  init(_ loop: NIOAsyncTestingEventLoop) async throws {
    let channel = NIOAsyncTestingChannel(loop: loop)
    let stream = ByteStream(channel: channel)
    try await loop.executeInContext {
      try channel.pipeline.syncOperations.addHandler(ByteStreamHandler(stream))
    }
    self.channel = channel
    self.stream = stream
  }

  /// Waits until a task waits for bytes.
  func waitForReader() async {
    while !stream.state.withLock({ $0.reader != nil }) { await Task.yield() }
  }

  /// Waits until a task waits for the peer to take bytes.
  func waitForWriter() async {
    while !stream.state.withLock({ $0.writer != nil }) { await Task.yield() }
  }

  /// Bytes arrive.
  func receive(_ text: String) async throws { try await channel.writeInbound(ByteBuffer(string: text)) }

  /// The number of bytes that were given to the channel since the last call.
  func written() async throws -> Int {
    var count = 0
    while let data = try await channel.readOutbound(as: IOData.self) { count += data.readableBytes }
    return count
  }
}
