import ArgumentParser
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct CommandVersionTests {
  @Test("the version is followed by the commit, where the build was told it")
  func commit() {
    #expect(CommandVersion.describe(commit: "") == CommandVersion.current)
    #expect(
      CommandVersion.describe(commit: "0123456789ab-changed")
        == "\(CommandVersion.current) (0123456789ab-changed)")
  }

  @Test("--version prints it")
  func option() throws {
    #expect(HTTPCacheCommand.configuration.version == CommandVersion.described)
    #expect(CommandVersion.userAgent == "httpcache/\(CommandVersion.current)")
  }
}
