import Foundation
import Testing

@testable import HTTPCacheCommand

/// SIGHUP for a server with a configuration file.
@Suite(.timeLimit(.minutes(10))) struct ServeReloadTests {
  @Test("routes change without a restart; a bad file changes nothing and says so")
  func reloaded() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("serve.yaml")
    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
    let first = try await ScriptOrigin { ServedFile(content: Array("first".utf8)).answer($0) }
    let second = try await ScriptOrigin { ServedFile(content: Array("second".utf8)).answer($0) }
    try write("access-log: none\nroutes:\n  - upstream: \(first.base)\n    cache: false\n")
    let serve = try await ServeProcess(["--config", path])
    let base = "http://127.0.0.1:\(try await serve.port())"
    func body() async -> String {
      let file = directory.file("body")
      _ = await CommandRun(
        "get", "-q", "--policy", "bypass", "--dir", directory.file("cache"), "-o", file, base + "/a")
      return String(decoding: directory.contents("body") ?? [], as: UTF8.self)
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
    let token = directory.file("token")
    try Data("a-token-of-enough-characters\n".utf8).write(to: URL(fileURLWithPath: token))
    chmod(token, 0o644)
    try write("access-log: none\npurge-token-file: \(token)\nupstream: \(first.base)\n")
    serve.send(SIGHUP)
    try await serve.says("the configuration stays as it was: \(path), line 2: purge-token-file: ")
    #expect(await body() == "second")
    serve.send(SIGTERM)
    #expect(await serve.end() == 0)
    try await first.close()
    try await second.close()
  }

  @Test("new content of a token file counts after a restart, and the server says so")
  func tokens() async throws {
    let directory = try TemporaryDirectory()
    let (path, token) = (directory.file("serve.yaml"), directory.file("token"))
    func write(_ text: String, to path: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o600)
    }
    try write("a-token-of-enough-characters\n", to: token)
    try write("access-log: none\npurge-token-file: \(token)\nupstream: http://127.0.0.1:9\n", to: path)
    let serve = try await ServeProcess(["--config", path])
    _ = try await serve.port()
    serve.send(SIGHUP)
    try await serve.says("was read again\n")
    #expect(serve.count(of: "count after a restart") == 0)
    try write("another-token-of-enough-characters\n", to: token)
    serve.send(SIGHUP)
    try await serve.says("changes of these keys count after a restart: purge-token-file\n")
    serve.send(SIGTERM)
    #expect(await serve.end() == 0)
  }
}
