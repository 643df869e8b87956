import AsyncHTTPClient
import HTTPCacheTesting
import HTTPCaching
import NIOCore
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
    let upstream = AsyncHTTPClientUpstream(client: HTTPClient.shared, idleTimeout: .seconds(60))
    let body = upstream.body(
      .stream(RecordingPieces(log: log, count: 200)), length: 200, describedBy: [:])
    var received = 0
    for try await piece in body { received += piece.count }
    #expect(received == 200)
    #expect(log.tasks.withLock { $0.count } == 1)
  }

  @Test("the idle timeout counts from the last piece, and ends a body that stalls")
  func idleTimeout() async throws {
    let clock = ManualClock(now: Timestamp(seconds: 1_800_000_000))
    var upstream = AsyncHTTPClientUpstream(client: HTTPClient.shared, idleTimeout: .seconds(10))
    upstream.clock = clock
    let (pieces, origin) = AsyncStream<ByteBuffer>.makeStream()
    let body = upstream.body(.stream(pieces), length: nil, describedBy: [:]).source
    for _ in 0..<3 {
      async let piece = body.next()
      await clock.waitForSleepers()
      clock.advance(by: .seconds(9))
      origin.yield(ByteBuffer(bytes: [7]))
      #expect(try await piece?.count == 1)
    }
    let isEnded = Atomic(false)
    let stalled = Task {
      defer { isEnded.store(true, ordering: .sequentiallyConsistent) }
      return try await body.next()
    }
    while !isEnded.load(ordering: .sequentiallyConsistent) {
      clock.advance(by: .seconds(9))
      await Task.yield()
    }
    let error = await #expect(throws: UpstreamError.self) { try await stalled.value }
    #expect(error?.kind == .timeout)
  }

  @Test(
    "an event stream has a limit of its own, whatever the letters and parameters of its type",
    arguments: [
      ("text/event-stream", nil, nil), ("Text/Event-Stream; charset=utf-8", nil, nil),
      ("text/event-stream;a", 20, 20), ("text/html", 20, 10), (nil, nil, 10), ("text/event-streams", nil, 10),
    ] as [(String?, Int64?, Int64?)])
  func eventStream(type: String?, limit: Int64?, expected: Int64?) {
    let upstream = AsyncHTTPClientUpstream(
      client: HTTPClient.shared, idleTimeout: .seconds(10),
      eventStreamTimeout: limit.map { Duration.seconds($0) })
    var fields: HTTPFields = [:]
    fields[.contentType] = type
    #expect(upstream.silence(of: fields) == expected.map { Duration.seconds($0) })
  }
}
