import HTTPCacheStore
import HTTPCaching
import HTTPTypes
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
        try await pool.lease(target, .any, until: .now() + .seconds(60))
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

  @Test(
    "RFC 9110 §9.2.2: a request that must not be sent twice takes no connection that the origin is about to close",
    arguments: [
      // Milliseconds for which the connections have been idle, that used last at the end.
      ([], false), ([0], false), ([9], false), ([10], true), ([999], true), ([1_000], false),
      ([5, 0], false), ([20, 0], true), ([20_000, 0], true), ([20_000, 1_000], false),
    ] as [([Int64], Bool)])
  func recent(_ idle: [Int64], _ isTaken: Bool) async throws {
    let origin = try await ScriptedOrigin { _ in nil }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let pool = try ConnectionPool(group: group, configuration: .init())
    let target = Origin(isSecure: false, host: "127.0.0.1", port: origin.port)
    let (connections, now) = (LoopConnections(), NIODeadline.now() + .hours(1))
    var leases: [ConnectionLease] = []
    for time in idle {
      let lease = try await pool.lease(target, .new, until: .now() + .seconds(60))
      leases.append(lease)
      #expect(connections.addIdle(lease.stream, target, at: now - .milliseconds(time)))
    }
    let taken = connections.takeRecent(target, at: now)
    #expect((taken != nil) == isTaken)
    #expect(taken === (isTaken ? leases.last?.stream : nil))
    #expect(connections.takeRecent(target, at: now + .seconds(2)) == nil)
    for lease in leases { pool.release(lease, isReusable: false) }
    try await group.shutdownGracefully()
  }

  @Test(
    "a POST uses a connection again, and is sent once if the origin ends that",
    arguments: [HTTPRequest.Method.post, .patch])
  func post(_ method: HTTPRequest.Method) async throws {
    let origin = try await ScriptedOrigin { request in
      if request.numberOnConnection > 0 { return .init(bytes: []) }
      return .init(head: "HTTP/1.1 200 OK\r\nContent-Length: 2", body: Array("ok".utf8), isHeld: true)
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let upstream = try NIOUpstream(group: group)
    var request = HTTPRequest(
      method: method, scheme: "http", authority: "127.0.0.1:\(origin.port)", path: "/")
    request.headerFields[.contentLength] = "1"
    // While a busy machine takes a second for each request, they get new connections.
    var count = 0
    try await eventually {
      count += 1
      let task = Task(executorPreference: EventLoopExecutor(group.next())) { [request] in
        try await upstream.send(UpstreamRequest(head: request, body: MessageBody(BodyBytes([1]))))
      }
      guard case .failure(let error) = await task.result else { return false }
      #expect((error as? UpstreamError)?.kind == .unreachable)
      return true
    }
    #expect(origin.requests.count == count)
    #expect(origin.requests.last?.numberOnConnection == 1)
    upstream.shutDown()
    try await group.shutdownGracefully()
  }
}
