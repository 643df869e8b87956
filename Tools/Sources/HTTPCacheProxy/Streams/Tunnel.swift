import NIOCore
import Synchronization

/// Forwards bytes between two connections in both directions, until both have ended.
final class Tunnel: Sendable {
  private let client: ByteStream
  private let origin: ByteStream
  private let silence: TimeAmount?
  /// The last time at which bytes moved in either direction.
  private let lastMove: Mutex<NIODeadline>

  private init(client: ByteStream, origin: ByteStream, silence: TimeAmount?) {
    self.client = client
    self.origin = origin
    self.silence = silence
    lastMove = Mutex(client.now)
  }

  /// Runs a tunnel.
  ///
  /// - Parameter silence: maximum time in which no byte moves in either direction; nil is for ever.
  /// - Returns: the number of bytes sent to `client`.
  static func run(client: ByteStream, origin: ByteStream, silence: TimeAmount?) async -> Int64 {
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
      // If the peer has ended its output, ending ours closes the connection and drops unwritten bytes.
      try await sink.writeOut(until: sink.now.after(silence))
      sink.finishOutput()
    } catch {
      source.close()
      sink.close()
    }
    return count
  }

  /// Waits while bytes move in either direction.
  private func whileAlive<Result>(
    _ wait: (NIODeadline) async throws(StreamError) -> Result
  ) async throws(StreamError) -> Result {
    while true {
      let deadline = lastMove.withLock { $0 }.after(silence)
      do {
        return try await wait(deadline)
      } catch StreamError.timedOut where lastMove.withLock({ $0 }).after(silence) > deadline {
        // Bytes have moved in the other direction since.
      }
    }
  }
}
