import Foundation
import ServerTesting
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

  /// A client that has sent a request to the server.
  private static func client(_ port: Int, path: String = "/a") throws -> RawPeer {
    let client = try RawPeer.connect(port)
    client.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
    return client
  }

  @Test(
    "a purge reaches a response that is still arriving", arguments: Moment.allCases, Selection.allCases)
  func arriving(_ moment: Moment, _ selection: Selection) async throws {
    for options in [[], ["--preserve-host"]] {
      let directory = try ScratchFolder()
      let cache = directory.path("cache")
      let (start, rest) =
        moment == .beforeHead ? ("", Self.head + "start-end") : (Self.head + "start", "-end")
      let origin = try RawOrigin()
      let serve = try await ServeProcess(
        ["--upstream", origin.base, "--disk", "64M", "--dir", cache] + options)
      let port = try await serve.port()
      let client = "http://127.0.0.1:\(port)"
      let first = try Self.client(port)
      let (peer, _) = try await origin.acceptRequest()
      peer.send(start)
      if moment == .duringBody { _ = try await first.receive(through: "start") }
      let arguments = selection.arguments(client: client, stored: options.isEmpty ? origin.base : client)
      await CommandRun.success(["purge", "--dir", cache] + arguments)
      peer.send(rest)
      peer.finish()
      _ = try await first.receive(through: "-end")
      let second = try Self.client(port)
      let (later, _) = try await origin.acceptRequest()
      later.send(start + rest)
      later.finish()
      _ = try await second.receive(through: "start-end")
      let third = try Self.client(port)
      _ = try await third.receive(through: "start-end")
      #expect(try await origin.acceptIfAny() == nil, "the response after the purge is stored")
      #expect(await serve.terminate() == 0)
    }
  }

  @Test(
    "purge, explain, ls, show and path take the URL of clients, and decide by the overrides of the server",
    arguments: [[], ["--preserve-host"]])
  func served(_ options: [String]) async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
    let origin = try RawOrigin()
    let file = directory.path("serve.yaml")
    try """
    upstream: \(origin.base)/base
    overrides:
      - match: "/**"
        fresh: 600
    """.write(toFile: file, atomically: true, encoding: .utf8)
    let serve = try await ServeProcess(["--config", file, "--disk", "64M", "--dir", cache] + options)
    let port = try await serve.port()
    let url = "http://127.0.0.1:\(port)/a"
    let first = try Self.client(port)
    let (peer, _) = try await origin.acceptRequest()
    peer.send(head + "ok")
    peer.finish()
    _ = try await first.receive(through: "\r\n\r\nok")
    let second = try Self.client(port)
    _ = try await second.receive(through: "\r\n\r\nok")
    #expect(try await origin.acceptIfAny() == nil, "the server uses the override")
    let explain = await CommandRun("explain", url, "--dir", cache)
    #expect(explain.output.contains("What is done? reuse, fresh"), "\(explain.output) \(explain.errors)")
    let list = await CommandRun("ls", "--dir", cache, "--json")
    #expect(list.output.contains("\"isFresh\":true"), "\(list.output)")
    for prefix in ["http://127.0.0.1:\(port)/", "http://127.0.0.1:\(port)"] {
      let below = await CommandRun("ls", prefix, "--dir", cache, "--json")
      #expect(below.output.contains("\"isFresh\":true"), "\(below.output) \(below.errors)")
    }
    let show = await CommandRun("show", url, "--dir", cache)
    #expect(show.status == 0 && show.output.contains("freshness   fresh"), "\(show.output) \(show.errors)")
    let path = await CommandRun("path", url, "--dir", cache)
    #expect(path.errors.contains("is kept in the index"), "\(path.errors)")
    let purge = await CommandRun("purge", url, "--dir", cache)
    #expect(purge.output.contains("removed 1 response"), "\(purge.output) \(purge.errors)")
    #expect(await serve.terminate() == 0)
  }

  /// The arguments that select the response by a URL of the server's clients.
  enum ClientSelection: CaseIterable {
    case prefix, prefixWithoutPath, prefixInSegment, group

    func arguments(client: String) -> [String] {
      switch self {
      case .prefix: ["--prefix", client + "/"]
      case .prefixWithoutPath: ["--prefix", client]
      case .prefixInSegment: ["--prefix", client + "/ap"]
      case .group: ["--group", "g", "--origin", client]
      }
    }
  }

  @Test(
    "a prefix or group of clients reaches routes below other paths, also where no route serves /",
    arguments: ClientSelection.allCases, ["http", "https"])
  func routesBelow(_ selection: ClientSelection, _ scheme: String) async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    let origin = try RawOrigin()
    let file = directory.path("serve.yaml")
    // With preserve-host, responses are stored under the client's host and the scheme of the upstream.
    let preservesHost = scheme == "https"
    try """
    routes:
      - path: /app
        upstream: \(origin.base)
        preserve-host: \(preservesHost)
    """.write(toFile: file, atomically: true, encoding: .utf8)
    let serve = try await ServeProcess(["--config", file, "--disk", "64M", "--dir", cache])
    let port = try await serve.port()
    let client = try Self.client(port, path: "/app/a")
    let (peer, _) = try await origin.acceptRequest()
    peer.send(Self.head + "start-end")
    peer.finish()
    _ = try await client.receive(through: "start-end")
    let arguments = selection.arguments(client: "\(scheme)://127.0.0.1:\(port)")
    let purge = await CommandRun(["purge", "--dir", cache] + arguments)
    #expect(purge.output.contains("removed 1 response"), "\(purge.output) \(purge.errors)")
    #expect(await serve.terminate() == 0)
  }

  @Test("of two servers in one directory, a URL of clients is that of the server that listens there")
  func twoServers() async throws {
    let directory = try ScratchFolder()
    let cache = directory.path("cache")
    let origins = [try RawOrigin(), try RawOrigin()]
    var serves: [ServeProcess] = []
    var addresses: [String] = []
    for origin in origins {
      let serve = try await ServeProcess(["--upstream", origin.base, "--disk", "64M", "--dir", cache])
      let port = try await serve.port()
      let client = try Self.client(port)
      let (peer, _) = try await origin.acceptRequest()
      peer.send(Self.head + "start-end")
      peer.finish()
      _ = try await client.receive(through: "start-end")
      serves.append(serve)
      addresses.append("127.0.0.1:\(port)")
    }
    // Each of them may serve this URL.
    let refused = await CommandRun.failure(.usage, "explain", "http://www.test/a", "--dir", cache)
    for part in addresses + origins.map({ $0.base + "/a" }) { #expect(refused.errors.contains(part)) }
    let list = await CommandRun.success("ls", "http://www.test/a", "--dir", cache)
    for origin in origins { #expect(list.output.contains(origin.base + "/a")) }
    for (origin, address) in zip(origins, addresses) {
      let explain = await CommandRun.success("explain", "http://\(address)/a", "--dir", cache)
      let place = "\(origin.base)/a [http://\(address)]"
      #expect(explain.errors.contains("explained as \(place)"), "\(explain.errors)")
      await CommandRun.success("show", "http://\(address)/a", "--dir", cache)
      let purge = await CommandRun.success("purge", "http://\(address)/a", "--dir", cache)
      #expect(purge.output == "removed 1 response\n")
      await CommandRun.failure(.failure, "show", origin.base + "/a", "--dir", cache)
    }
    for serve in serves.reversed() { #expect(await serve.terminate() == 0) }
    // The server that ended last has removed the note that was written last.
    let explain = await CommandRun.success("explain", "http://www.test/a", "--dir", cache)
    #expect(explain.errors.contains("explained as \(origins[0].base)/a "), "\(explain.errors)")
  }
}
