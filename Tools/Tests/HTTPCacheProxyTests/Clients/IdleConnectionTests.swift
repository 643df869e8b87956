import HTTPCacheSemantics
import HTTPCaching
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@testable import HTTPCacheProxy

@Suite("Idle connections", .timeLimit(.minutes(10)))
struct IdleConnectionTests {
  @Test("a connection that waits for a request keeps no task, whose stack would be 36 KiB after a miss")
  func keepsNoTask() async throws {
    let loop = NIOAsyncTestingEventLoop()
    let testing = try await TestingStream(loop)
    let context = ProxyContext(
      configuration: ProxyServer.Configuration(
        host: "127.0.0.1", port: 0,
        mode: .reverse(Origin(isSecure: false, host: "origin", port: 80), basePath: "")),
      cache: try HTTPCache.open(HTTPCache.Configuration(rules: CacheRules(mode: .shared))),
      upstream: try NIOUpstream(group: MultiThreadedEventLoopGroup.singleton, configuration: .init()),
      exchanges: nil, loops: [loop])
    let connection = ClientConnection(
      testing.stream, context: context, client: ClientSide(address: nil, isSecure: false), isHTTP2: false)
    _ = context.registry.admit(testing.channel)
    try await loop.executeInContext { connection.start() }
    for _ in 0..<2 {
      try await testing.receive("OPTIONS * HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\n\r\n")
      while !testing.stream.state.withLock({ $0.watcher != nil }), !Task.isCancelled { await loop.run() }
      #expect(try await testing.written() > 0)
      #expect(testing.stream.state.withLock { $0.closeHook == nil })
    }
    #expect(context.registry.count == 1)
    testing.stream.close()
    while context.registry.count > 0, !Task.isCancelled { await loop.run() }
  }
}
