import NIOCore
import Synchronization

/// Passes bytes between two connections, both ways, until both have ended.
final class Tunnel: Sendable {
  private let client: ByteStream
  private let origin: ByteStream
  private let silence: TimeAmount
  /// When bytes moved last, in either direction.
  private let lastMove: Mutex<NIODeadline>

  private init(client: ByteStream, origin: ByteStream, silence: TimeAmount) {
    self.client = client
    self.origin = origin
    self.silence = silence
    lastMove = Mutex(client.now)
  }

  /// Runs a tunnel.
  ///
  /// - Parameter silence: how long both directions may be silent at the same time.
  /// - Returns: the number of bytes sent to `client`.
  static func run(client: ByteStream, origin: ByteStream, silence: TimeAmount) async -> Int64 {
    let tunnel = Tunnel(client: client, origin: origin, silence: silence)
    let executor = EventLoopExecutor(client.channel.eventLoop)
    async let up = Task(executorPreference: executor) { await tunnel.pass(from: client, to: origin) }.value
    let down = await tunnel.pass(from: origin, to: client)
    _ = await up
    client.close()
    origin.close()
    return down
  }

  private func pass(from source: ByteStream, to sink: ByteStream) async -> Int64 {
    var count: Int64 = 0
    do {
      while true {
        let received = try await whileAlive { deadline async throws(StreamError) in
          try await source.read(until: deadline)
        }
        guard let bytes = received else { break }
        lastMove.withLock { $0 = source.now }
        count += Int64(bytes.readableBytes)
        sink.write(bytes)
        try await whileAlive { deadline async throws(StreamError) in try await sink.flush(until: deadline) }
        lastMove.withLock { $0 = source.now }
      }
      // Ending the output of a peer that has ended its own closes the connection, and drops what is not written.
      try await sink.writeOut(until: sink.now + silence)
      sink.finishOutput()
    } catch {
      source.close()
      sink.close()
    }
    return count
  }

  /// Waits for as long as bytes move in either direction.
  private func whileAlive<Result>(
    _ wait: (NIODeadline) async throws(StreamError) -> Result
  ) async throws(StreamError) -> Result {
    while true {
      let deadline = lastMove.withLock { $0 } + silence
      do {
        return try await wait(deadline)
      } catch StreamError.timedOut where lastMove.withLock({ $0 }) + silence > deadline {
        // The other direction has moved since.
      }
    }
  }
}
