import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A small origin on the loopback interface.
final class DemoOrigin: Sendable {
  /// Counts what was sent.
  final class Meter: Sendable {
    private let sent = Atomic<Int>(0)
    private let answered = Atomic<Int>(0)

    /// Bytes of bodies sent so far.
    var bytes: Int { sent.load(ordering: .relaxed) }
    /// Requests answered so far.
    var requests: Int { answered.load(ordering: .relaxed) }

    func addRequest() { answered.wrappingAdd(1, ordering: .relaxed) }
    func add(_ count: Int) { sent.wrappingAdd(count, ordering: .relaxed) }
  }

  /// The counts of sent bytes and requests.
  let meter: Meter
  /// Scheme, address and port.
  let base: String
  private let channel: any Channel

  private init(channel: any Channel, meter: Meter) {
    self.channel = channel
    self.meter = meter
    base = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
  }

  /// Runs `body` with an origin on a free port and stops it afterwards.
  ///
  /// - Throws: `IOError` if no port can be bound, and what `body` throws.
  static func withOrigin<Result>(_ body: (DemoOrigin) async throws -> Result) async throws -> Result {
    let meter = Meter()
    let blocks = DemoResource.allCases.map { ($0, ByteBuffer(bytes: $0.block)) }
    let bodies = Dictionary(uniqueKeysWithValues: blocks)
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(DemoHandler(bodies: bodies, meter: meter))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let origin = DemoOrigin(channel: channel, meter: meter)
    do {
      let result = try await body(origin)
      try await channel.close()
      return result
    } catch {
      // The body's error is the one to tell.
      try? await channel.close()
      throw error
    }
  }
}
