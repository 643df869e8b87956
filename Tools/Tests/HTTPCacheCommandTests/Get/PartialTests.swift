import Foundation
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// The commands' output for a response that broke off.
@Suite(.timeLimit(.minutes(10))) struct PartialTests {
  @Test("A download that broke off is listed as partial, has no file, and says how it would go on")
  func brokenOff() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 200 OK\r\nContent-Length: 20\r\nETag: \"a\"\r\nCache-Control: max-age=60\r\n\r\n01234567")
    let url = origin.base + "/file"
    let get = await CommandRun("get", url, "--dir", cache, "-o", directory.path("out"))
    #expect(get.status != 0)
    let list = await CommandRun("ls", "--dir", cache)
    #expect(list.output.contains("\(url) (partial)"))
    let show = await CommandRun("show", url, "--dir", cache)
    #expect(show.output.contains("8 B of it stored"))
    #expect(show.output.contains("body in     no file of its own until it is complete"))
    let path = await CommandRun.failure(.failure, "path", url, "--dir", cache)
    #expect(path.errors.contains("only a part of the body is stored"))
    let explain = await CommandRun("explain", url, "--dir", cache)
    #expect(explain.output.contains("only octets 0-7 of 20"))
    #expect(explain.output.contains("Range: bytes=8-"))
    await CommandRun.success("verify", "--dir", cache)
  }
}
