import Foundation
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// SIGHUP for a server with a configuration file.
@Suite(.timeLimit(.minutes(10))) struct ServeReloadTests {
  @Test("routes change without a restart; a bad file changes nothing and says so")
  func reloaded() async throws {
    let directory = try ScratchFolder()
    let path = directory.path("serve.yaml")
    func write(_ text: String) throws { try directory.write(text.utf8, to: "serve.yaml") }
    let first = try await ScriptedOrigin { ServedFile(content: Array("first".utf8)).answer($0) }
    let second = try await ScriptedOrigin { ServedFile(content: Array("second".utf8)).answer($0) }
    try write("access-log: none\nroutes:\n  - upstream: \(first.base)\n    cache: false\n")
    let serve = try await ServeProcess(["--config", path])
    let base = "http://127.0.0.1:\(try await serve.port())"
    func body() async -> String {
      let file = directory.path("body")
      _ = await CommandRun(
        "get", "-q", "--policy", "bypass", "--dir", directory.path("cache"), "-o", file, base + "/a")
      return String(decoding: directory.file("body").bytes ?? [], as: UTF8.self)
    }
    #expect(await body() == "first")
    try write("access-log: none\ngrace: 5\nroutes:\n  - upstream: \(second.base)\n    cache: false\n")
    serve.send(SIGHUP)
    try await serve.says("\(path) was read again\n")
    try await serve.says("changes of these keys count after a restart: grace\n")
    #expect(await body() == "second")
    try write("routes:\n  - upstream: nix\n")
    serve.send(SIGHUP)
    try await serve.says("the configuration stays as it was: \(path), line 2: routes[0].upstream must be")
    #expect(await body() == "second")
    // Counted from the start of the server, not from the last file.
    try write("access-log: none\nroutes:\n  - upstream: \(second.base)\n    cache: false\n")
    serve.send(SIGHUP)
    try await serve.says("was read again\n", times: 2)
    #expect(serve.count(of: "count after a restart") == 1)
    // A token that a restart would refuse is refused now.
    let token = try directory.write("a-token-of-enough-characters\n".utf8, to: "token", mode: 0o644)
    try write("access-log: none\npurge-token-file: \(token)\nupstream: \(first.base)\n")
    serve.send(SIGHUP)
    try await serve.says("the configuration stays as it was: \(path), line 2: purge-token-file \(token): ")
    #expect(await body() == "second")
    #expect(await serve.terminate() == 0)
  }

  @Test("SIGHUP takes the tokens of changed files; a token for a server without one counts after a restart")
  func tokens() async throws {
    let directory = try ScratchFolder()
    let (path, token) = (directory.path("serve.yaml"), directory.path("token"))
    func write(_ text: String, to path: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o600)
    }
    let (first, second) = ("a-token-of-enough-characters", "another-token-of-enough-characters")
    try write(first, to: token)
    let start = "access-log: none\nadmin: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n"
    try write("\(start)admin-token-file: \(token)\npurge-token-file: \(token)\n", to: path)
    let serve = try await ServeProcess(["--config", path])
    let base = "http://127.0.0.1:\(try await serve.port())"
    try await serve.says("admin listener on ")
    let admin = String(serve.errors.lines[1].split(separator: " ").last ?? "")
    // The status of a purge, and whether the admin listener answers.
    func answers(_ token: String) async -> String {
      let purge = await CommandRun(
        "get", "-s", "-X", "PURGE", "-H", "Authorization: Bearer \(token)", "-w", "%{http_code}",
        "-o", "/dev/null", base + "/")
      let stats: Void? = try? await AdminClient(address: admin, token: token).lines(of: "/stats") { _ in }
      return "\(purge.output) \(stats != nil)"
    }
    #expect(await answers(first) == "200 true")
    #expect(await answers(second) == "401 false")
    try write(second, to: token)
    serve.send(SIGHUP)
    try await serve.says("was read again\n")
    #expect(await answers(first) == "401 false")
    #expect(await answers(second) == "200 true")
    #expect(serve.count(of: "count after a restart") == 0)
    try write("short", to: token)
    serve.send(SIGHUP)
    try await serve.says("the configuration stays as it was: \(path), line 4: admin-token-file \(token): ")
    #expect(await answers(second) == "200 true")
    try write("\(start)", to: path)
    serve.send(SIGHUP)
    try await serve.says(
      "changes of these keys count after a restart: admin-token-file, purge-token-file\n")
    #expect(await answers(second) == "200 true")
    #expect(await serve.terminate() == 0)
  }

  @Test("SIGHUP takes the token of a changed file without a configuration file, too")
  func tokenOfOption() async throws {
    let directory = try ScratchFolder()
    let token = directory.path("token")
    func write(_ text: String) throws { try directory.write(text.utf8, to: "token", mode: 0o600) }
    try write("a-token-of-enough-characters")
    let serve = try await ServeProcess([
      "--upstream", "http://127.0.0.1:9", "--access-log", "none", "--purge-token-file", token,
    ])
    let base = "http://127.0.0.1:\(try await serve.port())"
    func status(_ token: String) async -> String {
      await CommandRun(
        "get", "-s", "-X", "PURGE", "-H", "Authorization: Bearer \(token)", "-w", "%{http_code}",
        "-o", "/dev/null", base + "/"
      ).output
    }
    #expect(await status("a-token-of-enough-characters") == "200")
    try write("another-token-of-enough-characters")
    serve.send(SIGHUP)
    try await serve.says("certificates and tokens were read again\n")
    #expect(await status("a-token-of-enough-characters") == "401")
    #expect(await status("another-token-of-enough-characters") == "200")
    #expect(await serve.terminate() == 0)
  }
}
