import Foundation
import HTTPCacheProxy
import NIOCore
import ServerTesting
import Testing

@testable import HTTPCacheCommand

@Suite("Limits of silence as options of serve", .timeLimit(.minutes(10))) struct SilenceOptionsTests {
  private func origins(_ options: String...) throws -> [TimeAmount?] {
    let configuration = try command(options).upstreamConfiguration()
    return [configuration.bodyTimeout, configuration.eventStreamTimeout]
  }

  private func command(_ options: [String]) throws -> ServeCommand {
    try #require(
      try HTTPCacheCommand.parsed(["serve", "--upstream", "http://127.0.0.1:1"] + options) as? ServeCommand)
  }

  private func server(_ options: String...) throws -> ProxyServer.Configuration {
    var configuration = ProxyServer.Configuration(host: "127.0.0.1", port: 0, mode: .gateway([]))
    try command(options).silence.apply(to: &configuration)
    return configuration
  }

  @Test("an origin has 600 s and no limit for event streams; a value counts for both, 0 is no limit")
  func origin() throws {
    #expect(try origins() == [.seconds(600), nil])
    #expect(try origins("--origin-silence", "5") == [.seconds(5), .seconds(5)])
    #expect(try origins("--origin-silence", "0") == [nil, nil])
  }

  @Test("a client has 60 s, a tunnel no limit")
  func clientAndTunnel() throws {
    let usual = try server()
    #expect(usual.bodyTimeout == .seconds(60) && usual.tunnelTimeout == nil)
    let given = try server("--client-silence", "7", "--tunnel-silence", "8")
    #expect(given.bodyTimeout == .seconds(7) && given.tunnelTimeout == .seconds(8))
  }

  @Test(
    "values out of range are refused with the range",
    arguments: [
      ("--origin-silence", "-1", 0), ("--origin-silence", "86401", 0), ("--client-silence", "0", 1),
      ("--tunnel-silence", "86401", 0),
    ])
  func range(_ option: String, _ value: String, _ least: Int) async {
    let serve = await CommandRun("serve", "--upstream", "http://127.0.0.1:1", "\(option)=\(value)")
    let get = await CommandRun("get", "http://127.0.0.1:1/", "\(option)=\(value)")
    for run in option == "--origin-silence" ? [serve, get] : [serve] {
      #expect(run.status == ExitStatus.usage.rawValue)
      #expect(run.errors.contains("\(option) must be between \(least) and 86400 seconds (got \(value))."))
    }
  }

  @Test("a route of the file has limits of its own")
  func route() throws {
    let directory = try ScratchFolder()
    let text = """
      routes:
        - {path: /events, upstream: "http://127.0.0.1:1", origin-silence: 0, client-silence: 5, tunnel-silence: 9}
        - {upstream: "http://127.0.0.1:1"}
        - {upstream: "http://127.0.0.1:1", timeout: 600}
      """
    let path = try directory.write(text.utf8, to: "serve.yaml")
    let routes = try ServeFile(path).routes.all(default: nil)
    #expect(routes[0].silence.origin == .unlimited && routes[0].silence.client == .seconds(5))
    #expect(routes[0].silence.tunnel == .after(.seconds(9)))
    #expect(routes[1].silence == SilenceLimits())
    #expect(routes[0].silence.head == nil && routes[2].silence.head == .seconds(600))
    for wrong in [
      "origin-silence: -1", "client-silence: 0", "tunnel-silence: x", "timeout: 0", "timeout: 3601",
    ] {
      try directory.write("routes: [{upstream: 'http://h', \(wrong)}]".utf8, to: "serve.yaml")
      #expect(throws: ConfigFailure.self) { try ServeFile(path) }
    }
  }
}
