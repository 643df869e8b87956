import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Responses that no request can have, to `get` with and without a queue: the file that is there stays.
@Suite(.timeLimit(.minutes(10))) struct HostileAnswerTests {
  private let directory: ScratchFolder

  init() throws {
    directory = try ScratchFolder()
    try directory.write("old".utf8, to: "a")
  }

  private func get(_ url: String, _ options: [String] = []) async -> CommandRun {
    await CommandRun(
      ["get", url, "-o", directory.path("a"), "--dir", directory.path("cache")] + options)
  }

  private func keepsFile(_ answer: String, _ options: [String] = []) async throws -> CommandRun {
    let origin = try await ScriptedOrigin(answer)
    let run = await get(origin.base + "/x", options)
    #expect(directory.file("a").bytes == Array("old".utf8))
    return run
  }

  @Test(
    "a status below 100 is a failure (RFC 9110 §15)", arguments: ["000", "001", "099"],
    [[], ["--queue", "q", "--retry", "0"]])
  func status(_ code: String, _ options: [String]) async throws {
    let run = try await keepsFile("HTTP/1.1 \(code) X\r\nContent-Length: 5\r\n\r\nhello", options)
    #expect(run.status == ExitStatus.brokenProtocol.rawValue, "\(run.errors)")
  }

  @Test(
    "a redirect that cannot be followed is a failure, and --redirects 0 shows it",
    arguments: ["http://%5B/", "//%5D", "//%FF/", "file:///etc/passwd", "data:,x", "http://h:99999/"])
  func redirects(_ location: String) async throws {
    let answer = "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 5\r\n\r\nmoved"
    let run = try await keepsFile(answer)
    #expect(run.status != 0 && !run.errors.isEmpty)
    let queued = try await keepsFile(answer, ["--queue", "q", "--retry", "0"])
    #expect(queued.status != 0 && !queued.errors.isEmpty)
    let origin = try await ScriptedOrigin(answer)
    await get(origin.base + "/x", ["--redirects", "0"]).expectSuccess()
    #expect(directory.file("a").bytes == Array("moved".utf8))
  }

  @Test(
    "206 with a range that was not requested is a failure (RFC 9110 §15.3.7)",
    arguments: [
      (nil, "bytes 5-9/100"), (nil, "bytes 0-4/100"), (nil, nil), ("50-60", "bytes 0-4/100"),
      ("50-60", "bytes 58-62/100"), ("-5", "bytes 0-4/100"),
    ])
  func otherRange(_ requested: String?, _ range: String?) async throws {
    let field = range.map { "Content-Range: \($0)\r\n" } ?? ""
    let run = try await keepsFile(
      "HTTP/1.1 206 Part\r\n\(field)Content-Length: 5\r\n\r\nhello", requested.map { ["-r", $0] } ?? [])
    #expect(run.status == ExitStatus.brokenProtocol.rawValue, "\(run.errors)")
    #expect(run.errors.contains("a range that was not requested"), "\(run.errors)")
  }

  @Test(
    "206 with requested bytes, or with all of them, is written",
    arguments: [
      (nil, "bytes 0-4/5"), ("50-60", "bytes 50-54/55"), ("-5", "bytes 95-99/100"), ("7-", "bytes 7-11/12"),
    ])
  func requestedRange(_ requested: String?, _ range: String) async throws {
    let origin = try await ScriptedOrigin(
      "HTTP/1.1 206 Part\r\nContent-Range: \(range)\r\nContent-Length: 5\r\n\r\nhello")
    await get(origin.base + "/x", requested.map { ["-r", $0] } ?? []).expectSuccess()
    #expect(directory.file("a").bytes == Array("hello".utf8))
  }

  @Test(
    "a body without the digest that its response states is a failure (RFC 9530)",
    arguments: [[], ["--queue", "q", "--retry", "0"]])
  func digest(_ options: [String]) async throws {
    let digest = String(repeating: "A", count: 43) + "="
    for name in ["Content-Digest", "Repr-Digest"] {
      let run = try await keepsFile(
        "HTTP/1.1 200 OK\r\n\(name): sha-256=:\(digest):\r\nCache-Control: max-age=9\r\nContent-Length: 5\r\n\r\nhello",
        options
      ).expect(.brokenProtocol)
      #expect(run.errors.contains("sha-256"), "\(run.errors)")
    }
  }
}
