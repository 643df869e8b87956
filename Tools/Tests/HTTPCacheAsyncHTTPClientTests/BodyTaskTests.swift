import AsyncHTTPClient
import HTTPCaching
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import HTTPCacheAsyncHTTPClient

@Suite(.timeLimit(.minutes(10))) struct BodyTaskTests {
  /// Pieces of one octet, and the tasks that pulled them.
  private struct RecordingPieces: AsyncSequence, Sendable {
    final class Log: Sendable {
      let tasks = Mutex<Set<Int>>([])
    }

    struct Iterator: AsyncIteratorProtocol {
      let log: Log
      var left: Int

      mutating func next() async throws -> ByteBuffer? {
        guard left > 0 else { return nil }
        left -= 1
        let task = withUnsafeCurrentTask { $0?.hashValue ?? 0 }
        _ = log.tasks.withLock { $0.insert(task) }
        await Task.yield()
        return ByteBuffer(bytes: [7])
      }
    }

    let log: Log
    let count: Int

    func makeAsyncIterator() -> Iterator { Iterator(log: log, left: count) }
  }

  @Test("one task reads all pieces of a body")
  func oneTask() async throws {
    let log = RecordingPieces.Log()
    let body = AsyncHTTPClientBody(
      .stream(RecordingPieces(log: log, count: 200)), length: 200, idleTimeout: .seconds(60),
      eventLoop: MultiThreadedEventLoopGroup.singleton.next())
    var received = 0
    while let piece = try await body.next() { received += piece.count }
    #expect(received == 200)
    #expect(log.tasks.withLock { $0.count } == 1)
  }
}
