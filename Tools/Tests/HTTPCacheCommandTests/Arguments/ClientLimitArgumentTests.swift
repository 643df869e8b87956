import ArgumentParser
import Testing

@testable import HTTPCacheCommand

@Suite("The limit of connections per client", .timeLimit(.minutes(10))) struct ClientLimitArgumentTests {
  private func serve(_ arguments: String...) throws -> ServeCommand {
    try ServeCommand.parse(["--upstream", "http://h"] + arguments)
  }

  @Test("is not set unless it is given, and is at least 1")
  func limit() throws {
    #expect(try serve().route.connectionsPerClient == nil)
    #expect(try serve("--connections-per-client", "8").route.connectionsPerClient == 8)
    #expect(throws: (any Error).self) { try serve("--connections-per-client", "0") }
  }
}
