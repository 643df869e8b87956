import ArgumentParser
import Foundation
import HTTPCacheProxy
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("The options of the admin listener", .timeLimit(.minutes(10))) struct AdminOptionsTests {
  private func options(_ arguments: String...) throws -> AdminOptions {
    try ServeCommand.parse(["--upstream", "http://127.0.0.1:1"] + arguments).admin
  }

  @Test("a listener that other machines can reach requires a token")
  func remote() throws {
    #expect(throws: (any Error).self) { try options("--admin", "0.0.0.0:9000") }
    #expect(throws: (any Error).self) { try options("--admin-token-file", "/tmp/token") }
    #expect(try options("--admin", "127.0.0.1:9000").admin == ListenAddress(host: "127.0.0.1", port: 9000))
  }

  @Test("a token file that cannot be used is named, with the reason")
  func tokens() throws {
    let directory = try ScratchFolder()
    let path = directory.path("token")
    func message(_ text: String?, mode: Int = 0o600) throws -> String? {
      directory.remove("token")
      if let text { try directory.write(text.utf8, to: "token", mode: mode) }
      let options = try options("--admin", "0.0.0.0:9000", "--admin-token-file", path)
      do {
        _ = try options.access()
        return nil
      } catch {
        return error.description
      }
    }
    #expect(try message(nil) == "--admin-token-file \(path): cannot be read")
    #expect(
      try message("0123456789abcdef", mode: 0o640)
        == "--admin-token-file \(path): other users can read it; run `chmod 600` on it")
    #expect(
      try message("short\n")
        == "--admin-token-file \(path): must have one token of at least 16 visible ASCII characters (has 5 bytes)"
    )
    let words = try message("two words of a token") ?? ""
    #expect(words.contains("must have one token"))
    #expect(try message("0123456789abcdef\n") == nil)
  }
}
