import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPCacheProxy

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Errors of a listening socket", .timeLimit(.minutes(10))) struct AcceptGateTests {
  @Test("one that closes the socket is told, once within a minute; one of a client that is gone is not")
  func told() throws {
    let messages = RecordedMessages()
    let logger = messages.logger
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandler(AcceptGate(AcceptGate.Notices(logger: logger)))
    channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNABORTED, reason: "accept"))
    #expect(messages.all.isEmpty)
    for _ in 0..<2 {
      channel.pipeline.fireErrorCaught(IOError(errnoCode: EPERM, reason: "accept"))
    }
    let reason = SystemMessage.text(EPERM)
    #expect(messages.all == ["accepting no connections for now: \(reason); trying again until it works"])
    _ = try? channel.finish()
  }
}
