import ArgumentParser
import Foundation
import HTTPCacheRedis
import HTTPCaching
import ServerTesting
import Testing

@testable import HTTPCacheCommand

/// The options of a fleet, and that no password is shown.
@Suite(.timeLimit(.minutes(10))) struct FleetOptionTests {
  private let directory: ScratchFolder

  init() throws { directory = try ScratchFolder() }

  private func write(_ text: String, _ name: String, mode: Int = 0o600) throws -> String {
    try directory.write(text.utf8, to: name, mode: mode)
  }

  @Test(
    "a password on a command line is refused, and not repeated",
    arguments: ["redis://u:pass%77ord@h", "redis://:pass%77ord@h", "rediss://:pass%77ord/x@h,i"])
  func commandLine(url: String) async {
    for command in [["serve", "--upstream", "http://a"], ["purge", "--all"], ["fleet"]] {
      for option in [["--fleet", url], ["--fleet=\(url)"]] {
        let run = await CommandRun.failure(.usage, command + option)
        #expect(run.errors.contains("use --fleet-password-file FILE"), "\(run.errors)")
        #expect(!run.errors.contains("pass%77"), "\(run.errors)")
      }
    }
  }

  @Test("a password in the configuration file: other users must not read the file")
  func configurationFile() async throws {
    let text =
      "upstream: http://127.0.0.1:1\nlisten: 127.0.0.1:0\ncapacity: 0\nfleet: redis://u:hunt%65r@127.0.0.1:1\n"
    let open = await CommandRun.failure(
      .failure, "serve", "--config", try write(text, "open.yaml", mode: 0o644), "--check")
    #expect(open.errors.contains("other users can read the password in fleet; run `chmod 600` on it"))
    // Nothing listens at port 1, which stops no start.
    let run = await CommandRun.success("serve", "--config", try write(text, "own.yaml"), "--check")
    #expect(
      run.errors.contains("warning: the fleet at redis://127.0.0.1:1 cannot be used now (unreachable: "))
    for text in [open.errors, run.errors, run.output] { #expect(!text.contains("hunt"), "\(text)") }
  }

  @Test(
    "a file that cannot be used is named, without the line that has the password",
    arguments: [
      "fleet: redis://u:pass: word@h", "fleet: [redis://u:pass@h", "fleet: 'redis://u:pass@h",
      "fleet:\n\t- pass",
    ])
  func brokenFile(text: String) async throws {
    let path = try write("upstream: http://a\n\(text)\n", "broken.yaml")
    let run = await CommandRun.failure(.usage, "serve", "--config", path, "--check")
    #expect(run.errors.hasPrefix("httpcache: \(path)"), "\(run.errors)")
    #expect(!run.errors.contains("pass"), "\(run.errors)")
  }

  @Test(
    "an address that is none is named with its place, and without the password",
    arguments: [
      ("http://h", "it must begin with redis:// or rediss://"), ("redis://u:pass@", "a host is missing"),
      ("redis://u:pass@h:x", "a port must be a number"),
      ("redis://pass@h", "it has a user without a password"),
      ("redis://u:pass@h/x", "the database must be a number"),
    ])
  func invalid(url: String, message: String) async throws {
    let path = try write("upstream: http://a\nfleet: \(url)\n", "invalid.yaml")
    let run = await CommandRun.failure(.usage, "serve", "--config", path, "--check")
    #expect(run.errors.hasPrefix("httpcache: \(path), line 2: fleet: "), "\(run.errors)")
    #expect(run.errors.contains(message) && !run.errors.contains("pass@"), "\(run.errors)")
  }

  @Test(
    "options that need each other, or exclude each other",
    arguments: [
      (["--fleet-name", "a"], "--fleet-name requires --fleet."),
      (["--fleet-password-file", "a"], "--fleet-password-file requires --fleet."),
      (["--fleet-secret-file", "a"], "--fleet-secret-file requires --fleet."),
      (["--fleet-ca", "a"], "--fleet-ca requires --fleet."),
      (["--fleet-staleness", "5"], "--fleet-staleness requires --fleet."),
      (["--fleet-largest", "5"], "--fleet-largest requires --fleet."),
      (["--fleet", "redis://h", "--fleet-ca", "a"], "Error: --fleet-ca requires rediss://"),
      (["--fleet", "redis://h", "--fleet-staleness", "0"], "--fleet-staleness must be between 1 and 86400"),
      (["--fleet", "redis://h", "--private"], "--fleet requires a shared cache"),
      (["--fleet", "redis://h", "--replay", "a.har"], "--record and --replay exclude --fleet."),
    ])
  func combinations(options: [String], message: String) async {
    let run = await CommandRun.failure(.usage, ["serve", "--upstream", "http://a"] + options)
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test("purge --fleet works on no directory; fleet needs the address")
  func commands() async {
    for options in [["--dir", "/x", "--all"], ["--older-than", "1d"]] {
      let run = await CommandRun(["purge", "--fleet", "redis://h"] + options)
      #expect(run.status == ExitStatus.usage.rawValue && run.errors.contains("--fleet"), "\(run.errors)")
    }
    #expect(await CommandRun("fleet").errors.contains("fleet requires --fleet URL."))
    for command in [["fleet"], ["purge", "--all"]] {
      let run = await CommandRun.failure(.unreachable, command + ["--fleet", "redis://127.0.0.1:1"])
      #expect(
        run.errors.hasPrefix("httpcache: the fleet at redis://127.0.0.1:1: unreachable: "), "\(run.errors)")
      let reason = String(cString: strerror(ECONNREFUSED))
      #expect(run.errors.hasSuffix(": no connection: \(reason)\n"), "\(run.errors)")
    }
  }

  @Test("the files of the password and the secret, and what they give the tier")
  func files() throws {
    let password = try write("p:w/@ \nsecond line\n", "password")
    let secret = try write(String(repeating: "0a", count: 32), "secret")
    let options = try FleetOptionGroup.parse([
      "--fleet", "rediss://user@h:7/0", "--fleet-password-file", password, "--fleet-secret-file", secret,
      "--fleet-name", "shop",
    ])
    let configuration = try #require(try options.configuration(encryption: nil, largestBody: 5))
    let address = try RedisAddress("rediss://user:p%3Aw%2F%40%20@h:7/0")
    #expect(configuration.address == address)
    #expect(configuration.name == "shop" && configuration.largestBody == 5)
    #expect(configuration.secret == [UInt8](repeating: 10, count: 32))
    for name in ["password", "secret"] {
      let path = try write("short", "open-\(name)", mode: 0o644)
      let options = try FleetOptionGroup.parse(["--fleet", "redis://h", "--fleet-\(name)-file", path])
      let failure = #expect(throws: StartFailure.self) { try options.configuration(encryption: nil) }
      #expect(failure?.description.contains("--fleet-\(name)-file \(path): other users can read") == true)
    }
    let empty = try FleetOptionGroup.parse([
      "--fleet", "redis://h", "--fleet-password-file", try write("\n", "empty"),
    ])
    #expect(throws: StartFailure.self) { try empty.configuration(encryption: nil) }
  }

  @Test("nodes of one machine have different names, which read well")
  func names() {
    let names = (0..<100).map { _ in FleetMember.nodeName(port: 8080) }
    #expect(Set(names).count == 100)
    for name in names {
      #expect(name.contains(":8080-") && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(name)")
    }
  }

  @Test(
    "a password that the server refuses ends a start with its reason, and is not shown",
    .enabled(if: RedisProgram.isInstalled, "redis-server is not installed"))
  func refused() async throws {
    let redis = try await RedisServer.start(["--requirepass", "right-secret"])
    let upstream = ["--upstream", "http://127.0.0.1:1", "--fleet", "redis://127.0.0.1:\(redis.port)"]
    let wrong = try write("wrong-secret\n", "wrong")
    let serve = try await start(upstream + ["--fleet-password-file", wrong])
    #expect(await serve.end() == ExitStatus.failure.rawValue)
    try await serve.says("httpcache: --fleet redis://127.0.0.1:\(redis.port): ")
    try await serve.says("WRONGPASS")
    #expect(!serve.errors.text.contains("wrong-secret"))
    let none = try await start(upstream)
    #expect(await none.end() == ExitStatus.failure.rawValue)
    try await none.says("NOAUTH")
    let right = try write("right-secret\n", "right")
    let good = try await start(upstream + ["--fleet-password-file", right])
    try await good.says("of fleet default at redis://127.0.0.1:\(redis.port)\n")
    await CommandRun.success("fleet", "--fleet", upstream[3], "--fleet-password-file", right)
    let refused = await CommandRun.failure(
      .failure, "fleet", "--fleet", upstream[3], "--fleet-password-file", wrong)
    #expect(refused.errors.contains("WRONGPASS"), "\(refused.errors)")
    #expect(await good.terminate() == 0)
    for secret in ["right-secret", "wrong-secret"] { #expect(!good.errors.text.contains(secret)) }
  }

  /// Starts a server until Redis answers it in time: on a busy machine it may go on alone.
  private func start(_ arguments: [String]) async throws -> ServeProcess {
    while true {
      let serve = try await ServeProcess(arguments)
      try await eventually { serve.isEnded || serve.count(of: " fleet default at ") > 0 }
      if serve.count(of: "cannot be used now") == 0 { return serve }
    }
  }
}
