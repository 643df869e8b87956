import HTTPCaching
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import HTTPCacheProxy

@Suite("The pipeline of a client's connection", .timeLimit(.minutes(10))) struct ClientPipelineTests {
  @Test("connections that end before they are refused take no place of those that are refused with an answer")
  func endedBeforeRefusal() throws {
    let channel = EmbeddedChannel()
    _ = try channel.finish(acceptAlreadyClosed: true)
    var configuration = ProxyServer.Configuration(
      host: "127.0.0.1", port: 0,
      mode: .reverse(Origin(isSecure: false, host: "127.0.0.1", port: 1), basePath: ""))
    configuration.connectionLimit = 0
    configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let context = ProxyContext(
      configuration: configuration, cache: storelessCache(),
      upstream: try NIOUpstream(group: MultiThreadedEventLoopGroup.singleton, configuration: .init()),
      exchanges: nil, loops: [])
    let pipeline = ClientPipeline(context: context)
    var refused = 0
    for _ in 0..<100 {
      guard case .refused(let refusal) = context.registry.admit(channel) else { continue }
      refused += 1
      #expect(throws: ChannelError.self) { try pipeline.turnAway(channel, refusal) }
    }
    #expect(refused == 100)
  }
}
