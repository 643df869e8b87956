import ArgumentParser
import HTTPCacheProxy
import Testing

@testable import HTTPCacheCommand

@Suite("The limits of connections", .timeLimit(.minutes(10))) struct ConnectionLimitArgumentTests {
  private func serve(_ arguments: String...) throws -> ServeCommand {
    try ServeCommand.parse(["--upstream", "http://h"] + arguments)
  }

  @Test("to an origin: 1,024 unless it is given, and at least 1")
  func originLimit() throws {
    #expect(try serve().upstreamConfiguration().connectionsPerOrigin == 1_024)
    #expect(try serve("--connections-per-origin", "8").upstreamConfiguration().connectionsPerOrigin == 8)
    #expect(throws: (any Error).self) { try serve("--connections-per-origin", "0") }
  }

  @Test("of a client: is not set unless it is given, and is at least 1")
  func limit() throws {
    #expect(try serve().route.connectionsPerClient == nil)
    #expect(try serve("--connections-per-client", "8").route.connectionsPerClient == 8)
    #expect(throws: (any Error).self) { try serve("--connections-per-client", "0") }
  }
}
