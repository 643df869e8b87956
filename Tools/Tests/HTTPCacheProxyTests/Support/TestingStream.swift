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

  /// Waits until a task waits for bytes, with its timer set: one that is set when the test has moved the time does not fire.
  func waitForReader() async {
    await Self.poll {
      stream.state.withLock { $0.reader != nil && Self.isSet($0.timer?.deadline, for: $0.readDeadline) }
    }
  }

  /// Waits until a task waits for the peer to take bytes, with its timer set.
  func waitForWriter() async {
    await Self.poll {
      stream.state.withLock { $0.writer != nil && Self.isSet($0.timer?.deadline, for: $0.writeDeadline) }
    }
  }

  private static func poll(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await pause() }
  }

  private static func isSet(_ timer: NIODeadline?, for deadline: NIODeadline?) -> Bool {
    guard let deadline, deadline < .distantFuture else { return true }
    return timer.map { $0 <= deadline } ?? false
  }

  /// Bytes arrive.
  func receive(_ text: String) async throws { try await channel.writeInbound(ByteBuffer(string: text)) }

  /// Waits until at least `count` bytes were given to the channel, and takes them.
  func waitForBytes(_ count: Int) async throws -> Int {
    var all = 0
    while all < count {
      let new = try await written()
      all += new
      if new == 0 { try await Task.sleep(for: .milliseconds(1)) }
    }
    return all
  }

  /// The number of bytes that were given to the channel since the last call.
  func written() async throws -> Int {
    var count = 0
    while let data = try await channel.readOutbound(as: IOData.self) { count += data.readableBytes }
    return count
  }
}

/// Leaves the processor to the code under test.
func pause() async { try? await Task.sleep(for: .milliseconds(1)) }
