import ArgumentParser
import Testing

@testable import HTTPCacheCommand

@Suite("The arguments of serve", .timeLimit(.minutes(10))) struct ServeArgumentsTests {
  @Test(
    "sizes",
    arguments: [
      ("0", 0), ("4096", 4096), ("1K", 1024), ("64KiB", 65536), ("64kb", 65536), ("512M", 512 << 20),
      ("2G", 2 << 30),
      ("1.5G", 3 << 29), ("1T", 1 << 40), ("7B", 7),
    ] as [(String, Int64)])
  func sizes(_ text: String, _ bytes: Int64) throws {
    #expect(ByteSize(argument: text)?.bytes == bytes)
  }

  @Test(
    "what is no size",
    arguments: [
      "", "-1", "K", "1X", "1.5", "1..5K", ".5K", "1.K", "1 K", "9999999999G", "1KiBB", "0x10", "٣", "1e3",
      "1.5iK",
    ])
  func noSizes(_ text: String) { #expect(ByteSize(argument: text) == nil) }

  @Test("a size is shown with the largest unit that fits")
  func sizeText() {
    #expect(ByteSize(bytes: 3 << 20).description == "3M")
    #expect(ByteSize(bytes: 1000).description == "1000")
    #expect(ByteSize(bytes: 0).description == "0")
  }

  @Test(
    "addresses",
    arguments: [
      ("127.0.0.1:8080", "127.0.0.1", 8080, true), ("[::1]:0", "::1", 0, true),
      ("localhost:1", "localhost", 1, true),
      ("0.0.0.0:80", "0.0.0.0", 80, false), ("[::]:80", "::", 80, false),
      ("127.evil.com:80", "127.evil.com", 80, false),
    ])
  func addresses(_ text: String, _ host: String, _ port: Int, _ isLoopback: Bool) throws {
    let address = try #require(ListenAddress(argument: text))
    #expect(address == ListenAddress(host: host, port: port))
    #expect(address.isLoopback == isLoopback)
    #expect(address.description == text)
  }

  @Test(
    "what is no address",
    arguments: ["", "8080", ":8080", "a", "a:", "a:x", "a:-1", "a:65536", "::1:80", "[a]:1", "a b:1"])
  func noAddresses(_ text: String) { #expect(ListenAddress(argument: text) == nil) }

  @Test(
    "what goes together",
    arguments: [
      ["--upstream", "http://a"], ["--upstream", "https://a:8443/base/"], ["--forward"],
      ["--forward", "--listen", "0.0.0.0:80", "--allow-remote", "--allow", "*.example.com"],
      ["--upstream", "http://a", "--listen", "0.0.0.0:80", "--allow-remote"],
      ["--upstream", "http://a", "--private", "--memory", "1G", "--disk", "0", "--access-log", "json"],
    ])
  func accepted(_ arguments: [String]) throws { _ = try ServeCommand.parse(arguments) }

  @Test(
    "what does not",
    arguments: [
      [], ["--forward", "--upstream", "http://a"], ["--upstream", "ftp://a"], ["--upstream", "a"],
      ["--upstream", "http://a?b"], ["--upstream", "http://u@a"],
      ["--upstream", "http://a", "--listen", "0.0.0.0:80"],
      ["--forward", "--listen", "0.0.0.0:80", "--allow-remote"],
      ["--upstream", "http://a", "--tls-key", "k"],
      ["--forward", "--connect-port", "0"], ["--upstream", "http://a", "--timeout", "0"],
      ["--upstream", "http://a", "--shared", "--private"],
    ])
  func refused(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try ServeCommand.parse(arguments) }
  }

  @Test(
    "formats of the access log; what cannot be read is named",
    arguments: [
      ("plain", nil), ("combined", nil), ("%h %U", nil),
      ("apache", "must be plain, json, common, combined, none, or a format with %"),
      ("%h %q", "'%q' is none of its directives"),
    ])
  func accessLog(format: String, message: String?) {
    do {
      _ = try ServeCommand.parse(["--upstream", "http://127.0.0.1:1", "--access-log", format])
      #expect(message == nil)
    } catch {
      let text = ServeCommand.fullMessage(for: error)
      #expect(message.map { text.contains($0) } == true, "\(text)")
    }
  }
}
