import NIOCore
import NIOPosix
import ServerTesting
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Connections to origins, by event loop", .timeLimit(.minutes(10))) struct LoopConnectionsTests {
  @Test("a request takes an idle connection of its event loop, opens one, or takes one of another event loop")
  func own() async throws {
    let origin = try await ScriptedOrigin { _ in nil }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let loops = Array(group.makeIterator())
    let pool = try ConnectionPool(group: group, configuration: .with { $0.connectionsPerOrigin = 2 })
    let target = Origin(isSecure: false, host: "127.0.0.1", port: origin.port)
    let lease = { (loop: any EventLoop) in
      Task(executorPreference: EventLoopExecutor(loop)) {
        try await pool.lease(target, fresh: false, until: .now() + .seconds(60))
      }
    }

    let first = try await lease(loops[0]).value
    #expect(!first.isReused && first.stream.channel.eventLoop === loops[0])
    pool.release(first, isReusable: true)
    let again = try await lease(loops[0]).value
    #expect(again.isReused && again.stream === first.stream)

    let second = try await lease(loops[1]).value
    #expect(!second.isReused && second.stream.channel.eventLoop === loops[1])

    pool.release(again, isReusable: true)
    let other = try await lease(loops[1]).value
    #expect(other.isReused && other.stream === first.stream)

    let waiting = lease(loops[0])
    try await eventually { pool.waiting.load(ordering: .relaxed) == 1 }
    pool.release(second, isReusable: true)
    let given = try await waiting.value
    #expect(given.isReused && given.stream === second.stream)
    #expect(pool.counts.open == 2 && pool.counts.idle == 0)

    for lease in [other, given] { pool.release(lease, isReusable: true) }
    #expect(pool.counts.idle == 2)
    pool.shutDown()
    #expect(pool.counts == (open: 0, idle: 0))
    try await group.shutdownGracefully()
  }
}
