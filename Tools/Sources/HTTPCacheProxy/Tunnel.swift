import NIOCore

/// Passes bytes between two connections, both ways, until both have ended.
enum Tunnel {
  /// Runs a tunnel.
  ///
  /// - Parameter silence: how long one direction may be silent while the other is too.
  /// - Returns: the number of bytes sent to `client`.
  static func run(client: ByteStream, origin: ByteStream, silence: TimeAmount) async -> Int64 {
    let executor = EventLoopExecutor(client.channel.eventLoop)
    async let up = Task(executorPreference: executor) {
      await pass(from: client, to: origin, silence: silence)
    }.value
    let down = await pass(from: origin, to: client, silence: silence)
    _ = await up
    client.close()
    origin.close()
    return down
  }

  private static func pass(from source: ByteStream, to sink: ByteStream, silence: TimeAmount) async -> Int64 {
    var count: Int64 = 0
    do {
      while let bytes = try await source.read(until: .now() + silence) {
        count += Int64(bytes.readableBytes)
        sink.write(bytes)
        try await sink.flush(until: .now() + silence)
      }
      sink.finishOutput()
    } catch {
      source.close()
      sink.close()
    }
    return count
  }
}
