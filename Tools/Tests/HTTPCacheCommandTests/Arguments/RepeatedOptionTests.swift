import ArgumentParser
import Testing

@testable import HTTPCacheCommand

@Suite("An option that is given more than once", .timeLimit(.minutes(10))) struct RepeatedOptionTests {
  private static func refuse(_ arguments: [String]) throws {
    let (command, options) = try HTTPCacheCommand.command(of: arguments)
    try RepeatedOption.refuse(in: options, of: command)
  }

  @Test(
    "is refused if it takes one value",
    arguments: [
      (["serve", "--forward", "--listen", "127.0.0.1:1", "--listen", "127.0.0.1:2"], "--listen"),
      (["serve", "--upstream", "http://a", "--upstream=http://b"], "--upstream"),
      (["serve", "--forward", "--admin", "127.0.0.1:1", "--admin", "127.0.0.1:1"], "--admin"),
      (["serve", "--forward", "--dir", "/a", "--dir", "/b"], "--dir"),
      (["serve", "--config=/a", "--config=/b"], "--config"),
      (["get", "http://a/", "-o", "a", "-o", "b"], "-o"),
      (["get", "http://a/", "-oa", "-ob"], "-o"),
      (["purge", "--prefix", "http://a/", "--prefix", "http://b/"], "--prefix"),
      (["downloads", "--queue", "a", "--queue", "b"], "--queue"),
      (["downloads", "resume", "--queue", "a", "--queue", "b"], "--queue"),
    ])
  func refused(arguments: [String], name: String) async {
    let run = await CommandRun.failure(.usage, arguments)
    #expect(run.errors.contains("\(name) is given more than once; it takes one value."), "\(run.errors)")
  }

  @Test("is refused under two of its names, too")
  func names() async {
    let run = await CommandRun.failure(.usage, "serve", "--forward", "--disk", "1M", "--capacity", "2M")
    #expect(
      run.errors.contains("--disk and --capacity are one option, which takes one value."), "\(run.errors)")
  }

  @Test(
    "is accepted if it takes several values, has none, or is no option but a value",
    arguments: [
      ["get", "-H", "a: b", "-H", "c: d", "http://a/"], ["get", "-k", "-k", "http://a/"],
      ["get", "-d", "--dir", "-d", "--dir", "--dir", "/a", "http://a/"],
      ["get", "--dir", "/a", "--", "--dir", "--dir"], ["explain", "http://a/", "--seed", "a", "--seed", "b"],
      ["serve", "--listen", "a", "--listen", "b", "--help"],
    ])
  func accepted(arguments: [String]) throws { try Self.refuse(arguments) }

  @Test(
    "the last value counts for the options of get that curl has",
    arguments: ["--max-time", "-m", "--retry", "-X", "-A", "-u", "-w"])
  func curl(name: String) throws {
    try Self.refuse(["get", name, "1", name, "2", "http://a/"])
  }

  @Test("each option of serve may be repeated if it is a list, and no other one", arguments: ServeKey.all)
  func keys(key: ServeKey) {
    let arguments = ["serve", "--\(key.name)", "1", "--\(key.name)", "2"]
    switch key.kind {
    case .value: #expect(throws: ValidationError.self) { try Self.refuse(arguments) }
    case .list, .flag, .switchedOff:
      #expect(throws: Never.self) { try Self.refuse(arguments) }
    }
  }
}
