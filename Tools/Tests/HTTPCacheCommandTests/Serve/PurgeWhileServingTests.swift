import Foundation
import Testing

@testable import HTTPCacheCommand

/// Commands beside a server that runs on the same directory.
@Suite("Commands beside serve", .timeLimit(.minutes(10))) struct PurgeWhileServingTests {
  /// The moment of the purge.
  enum Moment: CaseIterable {
    case beforeHead, duringBody
  }

  /// The arguments that select the response.
  enum Selection: CaseIterable {
    case clientURL, clientURLShared, storedURLShared, prefix, prefixShared, groupShared, allShared, soft

    func arguments(client: String, stored: String) -> [String] {
      switch self {
      case .clientURL: [client + "/a"]
      case .clientURLShared: [client + "/a", "--shared"]
      case .storedURLShared: [stored + "/a", "--shared"]
      case .prefix: ["--prefix", client + "/"]
      case .prefixShared: ["--prefix", client + "/", "--shared"]
      case .groupShared: ["--group", "g", "--origin", stored, "--shared"]
      case .allShared: ["--all", "--shared"]
      case .soft: [client + "/a", "--soft"]
      }
    }
  }

  private static let head =
    "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nCache-Groups: \"g\"\r\nContent-Length: 9\r\n"
    + "Connection: close\r\n\r\n"

  @Test(
    "a purge reaches a response that is still arriving", arguments: Moment.allCases, Selection.allCases)
  func arriving(_ moment: Moment, _ selection: Selection) async throws {
    for options in [[], ["--preserve-host"]] {
      let directory = try TemporaryDirectory()
      let cache = directory.file("cache")
      let origin = try await WaitingOrigin(
        start: moment == .beforeHead ? "" : Self.head + "start",
        rest: moment == .beforeHead ? Self.head + "start-end" : "-end")
      let serve = try await ServeProcess(
        ["--upstream", origin.base, "--disk", "64M", "--dir", cache] + options)
      let port = try await serve.port()
      let client = "http://127.0.0.1:\(port)"
      let first = try await RawClient(port: port, path: "/a")
      try await origin.arrived(1)
      if moment == .duringBody { try await first.gets("start") }
      let arguments = selection.arguments(client: client, stored: options.isEmpty ? origin.base : client)
      let purge = await CommandRun(["purge", "--dir", cache] + arguments)
      #expect(purge.status == 0, "\(purge.errors)")
      origin.release()
      try await first.gets("start-end")
      let second = try await RawClient(port: port, path: "/a")
      try await second.gets("start-end")
      #expect(origin.requests == 2, "\(arguments)")
      let third = try await RawClient(port: port, path: "/a")
      try await third.gets("start-end")
      #expect(origin.requests == 2, "the response after the purge is stored")
      serve.send(SIGTERM)
      #expect(await serve.end() == 0)
    }
  }

  @Test(
    "purge, explain and ls take the URL of clients, and decide by the overrides of the server",
    arguments: [[], ["--preserve-host"]])
  func served(_ options: [String]) async throws {
    let directory = try TemporaryDirectory()
    let cache = directory.file("cache")
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
    let origin = try await WaitingOrigin(start: head, rest: "ok")
    let file = directory.file("serve.yaml")
    try """
    upstream: \(origin.base)/base
    overrides:
      - match: "/**"
        fresh: 600
    """.write(toFile: file, atomically: true, encoding: .utf8)
    let serve = try await ServeProcess(["--config", file, "--disk", "64M", "--dir", cache] + options)
    let port = try await serve.port()
    let url = "http://127.0.0.1:\(port)/a"
    let first = try await RawClient(port: port, path: "/a")
    try await origin.arrived(1)
    origin.release()
    try await first.gets("ok")
    let second = try await RawClient(port: port, path: "/a")
    try await second.gets("ok")
    #expect(origin.requests == 1, "the server uses the override")
    let explain = await CommandRun("explain", url, "--dir", cache)
    #expect(explain.output.contains("What is done? reuse, fresh"), "\(explain.output) \(explain.errors)")
    let list = await CommandRun("ls", "--dir", cache, "--json")
    #expect(list.output.contains("\"isFresh\":true"), "\(list.output)")
    let purge = await CommandRun("purge", url, "--dir", cache)
    #expect(purge.output.contains("removed 1 response"), "\(purge.output) \(purge.errors)")
    serve.send(SIGTERM)
    #expect(await serve.end() == 0)
  }
}
