import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// Passwords and tokens reach the origin that they are for, and nothing else.
@Suite(.timeLimit(.minutes(10))) struct SecretTests {
  private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  @Test("a redirect to another host gets neither Authorization nor Cookie, one to the same host does")
  func redirects() async throws {
    let directory = try ScratchFolder()
    let other = try await ScriptedOrigin(Self.ok)
    let authority = other.authority
    let origin = try await ScriptedOrigin { request, _ in
      let target = request.hasPrefix("GET /here") ? "http://\(authority)/there" : "/here"
      return Array(
        "HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n".utf8)
    }
    await CommandRun.success(
      "get", "--dir", directory.path("cache"), origin.authority, "-u", "me:secret", "-H", "Cookie: c=secret",
      "-H", "X-Kept: 1")
    #expect(origin.texts.count == 2)
    for request in origin.texts {
      #expect(request.contains("Authorization: Basic ") && request.contains("Cookie: c=secret"))
    }
    let there = try #require(other.texts.first).lowercased()
    #expect(!there.contains("authorization") && !there.contains("cookie"))
    #expect(there.contains("x-kept: 1"))
  }

  @Test("neither -v, nor the report, nor --json, nor -w shows a password")
  func messages() async throws {
    let directory = try ScratchFolder()
    let answer = "HTTP/1.1 200 OK\r\nSet-Cookie: s=hidden\r\nContent-Length: 2\r\n\r\nok"
    for options in [["--json"], ["--explain"], []] {
      let origin = try await ScriptedOrigin(answer)
      let run = await CommandRun.success(
        [
          "get", "-v", "--dir", directory.path("cache"), "http://me:hidden@\(origin.authority)/", "-H",
          "X-Api-Key: hidden", "-b", "c=hidden", "-w", "%{json}", "-o", directory.path("1"),
        ] + options)
      #expect(!(run.output + run.errors).contains("hidden"), "\(run.output)\(run.errors)")
      #expect(!(run.output + run.errors).contains(Credentials(user: "me", password: "hidden").basic))
      #expect(run.errors.contains("> Authorization: Basic …\n"))
      #expect(run.errors.contains("> X-Api-Key: …\n"))
      #expect(run.errors.contains("< Set-Cookie: …\n"))
    }
  }

  @Test(
    "messages about options that are wrong show no secret",
    arguments: [
      ["-H", "Authorization Bearer hidden"], ["-H", "A B: hidden"], ["-H", "X: hidden\r\n"],
      ["-x", "ftp://me:hidden@proxy"], ["-x", "http://me:hidden@"], ["-x", "socks5://me:hidden@h"],
      ["-U", "hidden"], ["-x", "http://me:hidden@h:99999"],
    ])
  func errors(options: [String]) async throws {
    let run = await CommandRun.failure(.usage, ["get", "http://me:hidden@127.0.0.1:1/"] + options)
    #expect(!run.errors.contains("hidden"), "\(run.errors)")
  }

  @Test("-v shows the heads of both directions, and those of a response from the cache")
  func verbose() async throws {
    let directory = try ScratchFolder()
    let answer = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\nok"
    let origin = try await ScriptedOrigin(answer)
    let arguments = [
      "get", "-v", "--dir", directory.path("cache"), origin.authority, "-o", directory.path("1"),
    ]
    let first = await CommandRun(arguments)
    #expect(first.errors.contains("> GET /\n> Host: \(origin.authority)\n"))
    #expect(first.errors.contains("< HTTP 200 OK\n"))
    #expect(await CommandRun(arguments).errors.hasPrefix("* from the cache\n< HTTP 200 OK\n"))
  }
}
