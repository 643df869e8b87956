import ArgumentParser
import HTTPCaching
import Testing

@testable import HTTPCacheCommand

@Suite(.timeLimit(.minutes(10))) struct ArgumentTests {
  @Test(
    "ages are read with their units, a bare number is days",
    arguments: [
      ("90s", 90), ("15m", 900), ("12h", 43_200), ("7d", 604_800), ("2w", 1_209_600),
      ("1d12h", 129_600), ("3", 259_200), ("0", 0), ("2D", 172_800),
    ] as [(String, Int64)])
  func ages(text: String, seconds: Int64) {
    #expect(AgeArgument(argument: text)?.seconds == seconds)
  }

  @Test(
    "what is no age is refused, however large",
    arguments: [
      "", "d", "-1", "1x", "1.5h", "1d2", "h1", "99999999999999999999", "9223372036854775807w", "٣",
    ])
  func noAges(text: String) {
    #expect(AgeArgument(argument: text) == nil)
  }

  @Test(
    "the message for a wrong size or duration tells what is expected",
    arguments: [
      (["serve", "--forward", "--memory", "lots"], "expected bytes, such as 4096, 64M or 1.5G"),
      (["get", "http://a/", "--min-free", "some"], "expected bytes, such as 4096, 64M or 1.5G"),
      (["get", "http://a/", "--limit-rate", "fast"], "expected bytes, such as 4096, 64M or 1.5G"),
      (["config", "--capacity", "lots"], "expected bytes, such as 4096, 64M or 1.5G"),
      (["get", "http://a/", "--largest-entry", "x"], "expected bytes such as 64M, or a share such as 10%"),
      (["serve", "--forward", "--grace", "1m"], "expected a whole number of seconds, such as 60"),
      (["get", "http://a/", "--max-time", "1m"], "expected a number of seconds, such as 30 or 2.5"),
      (["get", "http://a/", "--connect-timeout", "x"], "expected a number of seconds, such as 30 or 2.5"),
      (["get", "http://a/", "--retry-delay", "x"], "expected a number of seconds, such as 30 or 2.5"),
      (["ls", "--unused-for", "soon"], "expected days, or an age such as 90s, 15m, 12h, 7d, 2w or 1d12h"),
      (["purge", "--older-than", "1y"], "expected days, or an age such as 90s, 15m, 12h, 7d, 2w or 1d12h"),
      (["serve", "--forward", "--allow-address", "x"], addresses),
      (["serve", "--upstream", "http://a", "--trust-forwarded", "10.0.0.0/33"], addresses),
      (["serve", "--upstream", "http://a", "--purge-from", "x"], addresses),
      (["pack", "--from-page", "http://a/", "--allow-address", "x"], addresses),
      (
        ["image", "http://a/", "-o", "a.png", "--resize", "big"],
        "expected width and height from 1 to 65535, such as 640x480"
      ),
      (["serve", "--forward", "--connect-port", "https"], "expected a whole number"),
      (["serve", "--forward", "--connections-per-client", "1.5"], "expected a whole number"),
      (["top", "--count", "all"], "expected a whole number"),
      (["ls", "--limit", "x"], "expected a whole number"),
      (["get", "http://a/", "--jobs", "many"], "expected a whole number"),
    ])
  func expected(arguments: [String], message: String) async {
    let run = await CommandRun.failure(.usage, arguments)
    #expect(run.errors.contains("'\(arguments.last ?? "")' is invalid for '"), "\(run.errors)")
    #expect(run.errors.contains("': \(message)\n"), "\(run.errors)")
  }

  private static let addresses =
    "expected an address or a range of addresses, such as 192.0.2.1 or 10.0.0.0/8"

  @Test(
    "an unknown command is named, with the nearest one",
    arguments: [
      (["fleat"], "Unknown command 'fleat'. Did you mean 'fleet'?"),
      (["server", "--upstream", "http://a"], "Unknown command 'server'. Did you mean 'serve'?"),
      (["gte", "http://a/"], "Unknown command 'gte'. Did you mean 'get'?"),
      (["nonsense", "--foo"], "Unknown command 'nonsense'."), ([""], "Unknown command ''."),
      (["http://u:secret@a/"], "Unknown command 'http://…@a/'. Did you mean 'get'?"),
      (["downloads", "puase"], "Unknown command 'puase'. Did you mean 'pause'?"),
    ])
  func unknownCommand(arguments: [String], message: String) async {
    let run = await CommandRun.failure(.usage, arguments)
    #expect(run.errors.hasPrefix("Error: \(message)\n"), "\(run.errors)")
    #expect(run.errors.contains("See 'httpcache --help'"), "\(run.errors)")
  }

  @Test("help shows the defaults")
  func defaults() throws {
    let serve = try ServeCommand.parse(["--forward"])
    let help = HTTPCacheCommand.helpMessage(for: ServeCommand.self, columns: 400)
    for value in [
      serve.memory.description, serve.largestEntry.description, "\(serve.timeout)", "\(serve.grace)",
    ] {
      #expect(help.contains("(default: \(value))"), "\(value)")
    }
  }

  @Test("a header field is split at its first colon")
  func header() throws {
    let field = try HeaderArgument(parsing: "X-Time:  12:30")
    #expect(field.name.rawName == "X-Time")
    #expect(field.value == "12:30")
    #expect(try HeaderArgument(parsing: "X-Empty;").value == "")
    #expect(try HeaderArgument(parsing: "X-Removed:").value == nil)
  }

  @Test(
    "what is no header field is refused",
    arguments: ["no colon", ": value", "a b: c", "X: a\r\nY: b", "X: a\u{0}"])
  func noHeader(text: String) {
    #expect(throws: ValidationError.self) { try HeaderArgument(parsing: text) }
  }

  @Test("a URL is taken apart, without its fragment")
  func url() throws {
    let url = try TargetURL(parsing: "https://example.com:8443/a/b?q=1#part")
    #expect(url.scheme == "https")
    #expect(url.authority == "example.com:8443")
    #expect(url.path == "/a/b?q=1")
    #expect(try TargetURL(parsing: "HTTP://example.com").path == "/")
    #expect(try TargetURL(parsing: "http://example.com?q").path == "/?q")
    #expect(try TargetURL(parsing: "http://[::1]:80/x").authority == "[::1]:80")
    #expect(try TargetURL(parsing: "http://example.com/ä b").path == "/%C3%A4%20b")
  }

  @Test(
    "what is no absolute http URL is refused",
    arguments: [
      "", "/a", "ftp://example.com/", "http://", "http:///a",
    ])
  func noURL(text: String) {
    #expect(throws: ValidationError.self) { try TargetURL(parsing: text) }
  }

  @Test("private and shared caches have different default directories")
  func directories() {
    let environment = ["HOME": "/h", "XDG_CACHE_HOME": "/caches"]
    #expect(
      CacheLocation.defaultDirectory(mode: .private, environment: environment)
        == "/caches/httpcache/private")
    #expect(
      CacheLocation.defaultDirectory(mode: .shared, environment: environment)
        == "/caches/httpcache/shared")
    #expect(
      CacheLocation.defaultDirectory(
        mode: .private, environment: ["HOME": "/h", "XDG_CACHE_HOME": "relative"])
        == "/h/.cache/httpcache/private")
  }

  @Test(
    "arguments that make no sense end with the status for usage",
    arguments: [
      ["get"], ["get", "-o", "a", "-O", "http://a/"],
      ["get", "-o", "a", "http://a/", "http://b/"], ["get", "--jobs", "0", "http://a/"],
      ["get", "-H", "x", "http://a/"], ["get", "-X", "A B", "http://a/"],
      ["get", "--policy", "never", "http://a/"], ["get", "--max-time", "0", "http://a/"],
      ["purge"], ["purge", "--all", "--prefix", "http://a/"], ["purge", "--group", "g"],
      ["purge", "--prefix", ""], ["ls", "--limit", "0"], ["ls", "--unused-for", "soon"], ["nonsense"],
    ])
  func usage(arguments: [String]) {
    #expect(throws: (any Error).self) { try HTTPCacheCommand.parseAsRoot(arguments) }
    do {
      _ = try HTTPCacheCommand.parseAsRoot(arguments)
    } catch {
      #expect(HTTPCacheCommand.exitCode(for: error).rawValue == ExitStatus.usage.rawValue)
    }
  }
}
